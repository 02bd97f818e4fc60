"""The chapters, for tests that look at each of them."""

import pytest

from course.chapter import chapters

each_chapter = pytest.mark.parametrize("chapter", chapters(), ids=repr)
