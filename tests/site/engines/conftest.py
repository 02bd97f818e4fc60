"""Each test in each engine; `-k webkit` chooses one."""

import pytest

from tests.support.engines import ENGINES


def pytest_generate_tests(metafunc):
    if "tab" in metafunc.fixturenames:
        metafunc.parametrize("tab", [
            pytest.param(name, marks=pytest.mark.xdist_group(name))
            for name in ENGINES], indirect=True, scope="session")


@pytest.fixture(scope="session")
def tab(request):
    with ENGINES[request.param]() as started:
        yield started
