"""The buttons follow the clone: any GitHub remote, or no buttons at all."""

from runpy import run_path
from types import SimpleNamespace

import pytest
from chapters import BOOK

EXTENSION = run_path(BOOK / "_ext" / "repository.py")
OPTIONS = {"repository_url": "https://github.com/OWNER/REPO",
           "use_repository_button": True, "repository_branch": "main"}


@pytest.mark.parametrize("remote", [
    "git@github.com:ada/course.git",
    "https://github.com/ada/course",
    "https://github.com/ada/course.git/",
    "https://ada:secret@github.com/ada/course.git",
    "ssh://git@github.com/ada/course.git",
    "ssh://git@ssh.github.com:443/ada/course.git",
    "git@github.com:ada/course\n"])
def test_github_remotes(remote):
    assert EXTENSION["slug"](remote) == "ada/course"


@pytest.mark.parametrize("remote", [
    "", "/srv/git/course", "https://gitlab.com/ada/course.git",
    "https://notgithub.com/ada/course", "https://github.com/ada"])
def test_others_are_not_guessed(remote):
    assert EXTENSION["slug"](remote) is None


def filled(folder):
    config = SimpleNamespace(html_theme_options=dict(OPTIONS))
    EXTENSION["fill"](SimpleNamespace(srcdir=folder), config)
    return config.html_theme_options


def test_environment_first(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "ada/course")
    assert filled(tmp_path)["repository_url"].endswith("github.com/ada/course")


def test_no_address_no_buttons(tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    assert set(filled(tmp_path)) == {"repository_branch"}


def test_no_git_no_buttons(tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert set(filled(tmp_path)) == {"repository_branch"}
