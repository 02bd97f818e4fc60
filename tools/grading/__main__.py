"""Grade what students handed in: python -m tools.grading 04 FOLDER_OR_ZIP"""

import sys

from tools.grading.grade import main

sys.exit(main())
