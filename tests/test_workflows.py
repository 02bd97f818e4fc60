"""The workflows follow GitHub's schema, with no more rights than they need."""

import re
import subprocess
import sys

import pytest
import yaml
from chapters import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
OFFICIAL = re.compile(r"actions/[a-z-]+@[0-9a-f]{40}")
TESTS = "./.github/workflows/test.yml"


def follows_the_schema(path):
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema",
             "vendor.github-workflows", str(path)]
    return subprocess.run(check, capture_output=True).returncode == 0


@each_workflow
def test_schema(path):
    assert follows_the_schema(path)


def test_a_misspelt_workflow_is_refused(tmp_path):
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS[0].read_text("utf-8").replace("runs-on", "on"))
    assert not follows_the_schema(wrong)


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
