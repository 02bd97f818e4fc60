"""What some tests need beside requirements.txt."""

import os

import pytest


def absent(what, remedy):
    """Skip, and say what to install; where CI=true, that is a failure."""
    stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
    stop(f"{what} is not installed: {remedy}")
