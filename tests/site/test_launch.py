"""A site that knows its addresses is in test_pages.py; here one guesses none.
"""

import re
import subprocess
import sys

import pytest

from course.edition import edition
from course.paths import ROOT
from tools.website import launch


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder with a version and a page, from nowhere."""
    for name in ("GITHUB_REPOSITORY", "SITE_URL", "SOURCE_DATE_EPOCH"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "CITATION.cff").write_text("version: 1.2.0\n", "utf-8")
    (tmp_path / "index.rst").write_text(
        "A title\n=======\n\nThe root :math:`x_\\mathrm{d}`. More.\n", "utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("remote, name", [
    ("https://github.com/ada/course", "ada/course"),
    ("https://ada:secret@github.com/ada/course.git/", "ada/course"),
    ("ssh://git@ssh.github.com:443/ada/course.git", "ada/course"),
    ("", None), ("/srv/git/course", None), ("https://github.com/ada", None),
    ("https://gitlab.com/ada/course.git", None),
    ("https://notgithub.com/ada/course", None)])
def test_remotes_that_are_not_githubs_are_not_guessed(remote, name):
    match = launch.REMOTE.search(remote)
    assert (match and match[1]) == name


def test_the_environment_comes_first(clone, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "eve/course")
    assert launch.repository(ROOT) == "eve/course"


def test_a_site_without_addresses_has_none(clone):
    subprocess.run([
        sys.executable, "-m", "sphinx", "-C", "-W", "-q",
        "-D", "extensions=sphinx_book_theme,tools.website.launch",
        "-D", "html_theme=sphinx_book_theme", clone, clone / "html"],
        cwd=ROOT, check=True)
    assert not {"404.html", "sitemap.xml"} & {
        path.name for path in (clone / "html").iterdir()}
    html = (clone / "html" / "index.html").read_text("utf-8")
    assert not re.search(
        r'canonical|github|(?:content|action)="https?:|Report a mistake', html)
    assert '<meta name="description" content="The root x_d. More.' in html


def test_the_date_is_the_last_commits(clone, monkeypatch):
    assert edition(clone) == "Edition 1.2.0"
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2024-03-01T23:30:00-0800")
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b",
                    "commit", "-q", "--allow-empty", "-m", "x"], cwd=clone,
                   check=True)
    assert edition(clone) == "Edition 1.2.0, as of 2 March 2024"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert edition(clone) == "Edition 1.2.0, as of 1 January 1970"
