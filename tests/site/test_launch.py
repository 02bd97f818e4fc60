"""A site that knows its addresses, and one that knows and guesses none."""

import re
import subprocess
import sys

import pytest

from course.edition import edition
from course.paths import ROOT
from tests.site.browsing import PUBLISHED, REPOSITORY
from tools.website import launch


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder with a version and three pages, from nowhere."""
    for name in ("GITHUB_REPOSITORY", "SITE_URL", "SOURCE_DATE_EPOCH"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "CITATION.cff").write_text("version: 1.2.0\n", "utf-8")
    (tmp_path / "index.rst").write_text(
        "A title\n=======\n\nThe root :math:`x_\\mathrm{d}`. More.\n\n"
        ".. toctree::\n\n   one\n   two\n", "utf-8")
    for page in ("one", "two"):
        (tmp_path / f"{page}.rst").write_text("Other\n=====\n", "utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def built(folder):
    """What a build of it writes: {name: text}"""
    subprocess.run([
        sys.executable, "-m", "sphinx", "-C", "-W", "-q",
        "-D", "extensions=sphinx_book_theme,tools.website.launch",
        "-D", "html_theme=sphinx_book_theme", folder, folder / "html"],
        cwd=ROOT, check=True)
    return {path.name: path.read_text("utf-8")
            for path in (folder / "html").glob("*.*ml")}


@pytest.mark.parametrize("remote", [
    "git@github.com:ada/course.git",
    "https://github.com/ada/course",
    "https://github.com/ada/course.git/",
    "https://ada:secret@github.com/ada/course.git",
    "ssh://git@github.com/ada/course.git",
    "ssh://git@ssh.github.com:443/ada/course.git"])
def test_github_remotes(remote):
    assert launch.REMOTE.search(remote)[1] == "ada/course"


@pytest.mark.parametrize("remote", [
    "", "/srv/git/course", "https://gitlab.com/ada/course.git",
    "https://notgithub.com/ada/course", "https://github.com/ada"])
def test_others_are_not_guessed(remote):
    assert launch.REMOTE.search(remote) is None


def test_the_environment_comes_first(clone, monkeypatch):
    assert launch.repository(clone) is None
    git = ["git", "remote", "add", "origin", "git@github.com:ada/course.git"]
    subprocess.run(git, cwd=clone, check=True)
    assert launch.repository(clone) == "ada/course"
    monkeypatch.setenv("GITHUB_REPOSITORY", "eve/course")
    assert launch.repository(clone) == "eve/course"


def test_without_git_nothing_is_known(clone, monkeypatch):
    monkeypatch.setenv("PATH", str(clone))
    assert launch.repository(clone) is None
    assert edition(clone) == "Edition 1.2.0"


def test_a_site_without_addresses_has_none(clone):
    files = built(clone)
    assert {*files} == {f"{page}.html" for page in (
        "index", "one", "two", "genindex", "search")}
    assert not re.search(r'canonical|(?:content|action)="https?:',
                         files["index.html"])
    assert '<meta name="description" content="The root x_d. More.' in (
        files["index.html"])
    assert "github" not in files["index.html"]
    assert launch.footer("A title", "", "Edition 1") == "Edition 1"


@pytest.mark.parametrize("site", [PUBLISHED, PUBLISHED.rstrip("/")])
def test_a_site_with_an_address_says_it_everywhere(clone, monkeypatch, site):
    monkeypatch.setenv("SITE_URL", site)
    files = built(clone)
    assert f"<loc>{PUBLISHED}index.html</loc>" in files["sitemap.xml"]
    assert f'href="{PUBLISHED}index.html"' in files["index.html"]
    assert 'href="/course/book/intro.html#the-chapters"' in files["404.html"]
    (clone / "two.rst").touch()
    assert built(clone) == files, "a second build"


def test_the_form_for_mistakes_has_the_field_that_is_filled():
    form = ROOT / ".github" / "ISSUE_TEMPLATE" / "1-mistake.yml"
    footer = launch.footer("04. A & b", REPOSITORY, "")
    assert form.name in footer and "place=04.+A+%26+b" in footer
    assert "id: place" in form.read_text("utf-8")


def test_the_date_is_the_last_commits(clone, monkeypatch):
    assert edition(clone) == "Edition 1.2.0"
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2024-03-01T23:30:00-0800")
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b",
                    "commit", "-q", "--allow-empty", "-m", "x"], cwd=clone,
                   check=True)
    assert edition(clone) == "Edition 1.2.0, as of 2 March 2024"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert edition(clone) == "Edition 1.2.0, as of 1 January 1970"
