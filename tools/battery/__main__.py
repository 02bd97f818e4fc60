"""Try thousands of wrong answers: python -m tools.battery [NN ...]"""

import sys

from tools.battery.battery import main

sys.exit(main(sys.argv[1:]))
