"""Questions for Moodle and Canvas: python -m tools.quiz [NN]"""

import sys

from tools.quiz.export import main

main(*sys.argv[1:])
