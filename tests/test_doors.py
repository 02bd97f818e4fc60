"""The doors of a site whose addresses are known, and of one where none is."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from chapters import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import doors

HUB = "https://github.com/ada/course"
SITE = "https://ada.github.io/course/"


def context(monkeypatch, repository, site):
    """What a chapter's page is given, with these addresses."""
    monkeypatch.setenv("SITE_URL", site)
    config = SimpleNamespace(html_baseurl="", html_theme_options={
        "repository_url": repository} if repository else {})
    doors.address(None, config)
    env = SimpleNamespace(doc2path=lambda name: f"/x/{name}.ipynb")
    app = SimpleNamespace(config=config, env=env, srcdir=ROOT)
    found = {"title": "04. A &amp; b", "header_buttons": []}
    doors.open_doors(app, "book/04_a", "page.html", found, True)
    return config.html_baseurl, found, [*doors.lost(app)]


@pytest.mark.parametrize("site", [SITE, SITE.rstrip("/")])
def test_known_addresses(monkeypatch, site):
    base, page, collected = context(monkeypatch, HUB, site)
    assert base == SITE
    assert [name for name, *_ in collected] == ["404"]
    [group] = page["header_buttons"]
    assert [button["url"].removeprefix(doors.COLAB)
            for button in group["buttons"]] == [
        "/ada/course/blob/student/04_a.ipynb",
        "/ada/course/blob/main/book/04_a.ipynb"]
    assert f"{HUB}/issues/new?" in page["theme_extra_footer"]
    assert "place=04.+A+%26+b" in page["theme_extra_footer"]


def test_unknown_addresses_are_not_guessed(monkeypatch):
    base, page, collected = context(monkeypatch, None, "")
    assert base == "" and collected == [] and page["header_buttons"] == []
    assert "<a" not in page["theme_extra_footer"]


def test_the_form_for_mistakes_has_the_field_that_is_filled():
    form = ROOT / ".github" / "ISSUE_TEMPLATE" / "1-mistake.yml"
    assert form.name in doors.foot("a", HUB, "")
    assert "id: place" in form.read_text("utf-8")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    (tmp_path / "CITATION.cff").write_text("version: 1.2.0\n")
    return tmp_path


def test_the_date_is_the_last_commits(clone, monkeypatch):
    assert doors.edition(clone) == "Edition 1.2.0"
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2024-03-01T23:30:00-0800")
    for command in (["init", "-q"], [*author, "commit", "-q", "--allow-empty",
                                     "-m", "x"]):
        subprocess.run(["git", *command], cwd=clone, check=True)
    assert doors.edition(clone) == "Edition 1.2.0, as of 2 March 2024"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert doors.edition(clone) == "Edition 1.2.0, as of 1 January 1970"


@pytest.mark.parametrize("html, rooted", [
    ('<a href="book/a.html#b">', '<a href="/course/book/a.html#b">'),
    ('<html data-content_root="./">', '<html data-content_root="/course/">'),
    ('<a href="#main">', '<a href="#main">'),
    ('<a href="https://x.org/a">', '<a href="https://x.org/a">')])
def test_a_page_for_any_depth(html, rooted):
    assert doors.rooted(html, SITE) == rooted
