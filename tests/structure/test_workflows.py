"""The workflows follow GitHub's schema, with no more rights than they need."""

import os
import re
import subprocess

import pytest
import yaml

from course.paths import ROOT
from tests.support.schema import follows

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
OFFICIAL = re.compile(r"actions/[a-z-]+@[0-9a-f]{40}")
TESTS = "./.github/workflows/test.yml"
RIGHTS = {"deploy": {"pages": "write", "id-token": "write"},
          "student": {"contents": "write"}}


@each_workflow
def test_follows_the_schema(path):
    assert follows("github-workflows", str(path))


@each_workflow
def test_official_actions_and_least_permissions(path):
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job.get("permissions") == RIGHTS.get(name)
        if "uses" in job:
            assert job["uses"] == TESTS
            continue
        assert job["timeout-minutes"] <= 120
        for step in job["steps"]:
            assert "run" in step or OFFICIAL.fullmatch(step["uses"])


@pytest.mark.skipif(os.name == "nt", reason="runs on GitHub's Linux")
def test_the_job_that_pushes_runs_nothing_of_ours(tmp_path):
    """Its script, with git's push caught: a flat branch of the editions."""
    path = ROOT / ".github" / "workflows" / "publish.yml"
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    download, push = jobs["student"]["steps"]
    assert "download-artifact" in download["uses"]
    for name in ("00_a", "01_b"):
        (tmp_path / "release" / name).mkdir(parents=True)
        (tmp_path / "release" / name / f"{name}.ipynb").touch()
    script, caught, command = push["run"].partition("git push")
    subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, check=True,
                   env=os.environ | {"GITHUB_SHA": "d9cb663"})
    tree = subprocess.run(["git", "ls-tree", "--name-only", "student"],
                          cwd=tmp_path / "branch", capture_output=True)
    assert tree.stdout.split() == [b"00_a.ipynb", b"01_b.ipynb"]
    assert caught and command.split()[-1] == "student"
