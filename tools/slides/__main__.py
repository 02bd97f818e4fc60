"""The slides of a chapter, or of all: python -m tools.slides [NN]"""

import sys

from tools.slides.publish import main

sys.exit(main())
