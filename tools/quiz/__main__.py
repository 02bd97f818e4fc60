"""Questions for Moodle: python -m tools.quiz [NN]"""

import sys

from tools.quiz.export import main

main(*sys.argv[1:])
