"""Questions for Moodle and Canvas: python -m tools.quiz [NN]"""

import sys

from tools.quiz.export import main

sys.exit(main(*sys.argv[1:]))
