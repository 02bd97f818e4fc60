"""Student editions and homework: python -m tools.homework NN_topic ..."""

import sys

from tools.homework.editions import main

sys.exit(main())
