"""Grade what students handed in: python -m tools.grading 04 FOLDER_OR_ZIP"""

from tools.grading.grade import main

if __name__ == "__main__":
    main()
