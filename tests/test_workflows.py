"""The workflows follow GitHub's schema, with no more rights than they need."""

import re

import pytest
import yaml
from chapters import ROOT
from test_habits import follows

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
OFFICIAL = re.compile(r"actions/[a-z-]+@[0-9a-f]{40}")
TESTS = "./.github/workflows/test.yml"


@each_workflow
def test_follows_the_schema(path):
    assert follows("github-workflows", str(path))


@each_workflow
def test_official_actions_and_least_permissions(path):
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        writes = {"pages": "write", "id-token": "write"}
        assert job.get("permissions") == (writes if name == "deploy" else None)
        if "uses" in job:
            assert job["uses"] == TESTS
            continue
        assert job["timeout-minutes"] <= 120
        for step in job["steps"]:
            assert "run" in step or OFFICIAL.fullmatch(step["uses"])
