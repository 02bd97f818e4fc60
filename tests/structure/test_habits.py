"""What a project keeps beside its text: forms, locks, rights, releases."""

import re
from importlib.metadata import PackageNotFoundError, requires

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course.paths import ROOT
from tests.support.schema import follows

FORMS = {
    "citation-file-format": ["CITATION.cff"],
    "dependabot": [".github/dependabot.yml"],
    "github-issue-config": [".github/ISSUE_TEMPLATE/config.yml"],
    "github-issue-forms": sorted(
        str(path.relative_to(ROOT))
        for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("[0-9]*.yml")),
}


def read(name):
    return (ROOT / name).read_text("utf-8")


def packages(name):
    """{package: its requirement} of a requirements file."""
    lines = (line.partition(" #")[0] for line in read(name).splitlines())
    every = [Requirement(line) for line in lines
             if line and not line.startswith(("#", "-"))]
    return {canonicalize_name(package.name): package for package in every}


@pytest.mark.parametrize("schema", FORMS)
def test_forms_follow_their_schemas(schema):
    assert follows(schema, *(str(ROOT / path) for path in FORMS[schema]))


@pytest.mark.parametrize("schema, key", [
    ("citation-file-format", "authors:"), ("dependabot", "interval:"),
    ("github-issue-config", "blank_issues_enabled:"),
    ("github-issue-forms", "label:")])
def test_a_wrong_form_is_refused(schema, key, tmp_path):
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(read(FORMS[schema][0]).replace(key, "other:"), "utf-8")
    assert not follows(schema, str(wrong))


def test_pins_and_constraints_agree():
    pins, lock = packages("requirements.txt"), packages("constraints.txt")
    assert "-c constraints.txt" in read("requirements.txt").splitlines()
    for name, package in pins.items():
        assert str(package.specifier).startswith("==")
        assert package.specifier == lock[name].specifier


def test_constraints_name_whatever_is_needed():
    """Follows what is installed: another package wants a new lock."""
    lock = packages("constraints.txt")
    needed, new = set(), set(packages("requirements.txt"))
    while new:
        needed |= new
        found = set()
        for name in new:
            try:
                lines = requires(name) or []
            except PackageNotFoundError:            # of an extra, say
                continue
            found |= {canonicalize_name(package.name)
                      for package in map(Requirement, lines)
                      if not package.marker
                      or package.marker.evaluate({"extra": ""})}
        new = found - needed
    assert len(needed) > 100
    assert needed - set(lock) == set()


def test_the_site_waits_for_the_tests():
    jobs = yaml.safe_load(read(".github/workflows/publish.yml"))["jobs"]
    assert jobs["test"]["uses"] == "./.github/workflows/test.yml"
    assert jobs["build"]["needs"] == jobs["editions"]["needs"] == "test"
    assert jobs["student"]["needs"] == "editions"
    assert jobs["deploy"]["needs"] == ["build", "student"]
    tests = yaml.safe_load(read(".github/workflows/test.yml"))
    runs = [step.get("run") for step in tests["jobs"]["linux"]["steps"]]
    assert "workflow_call" in tests[True]           # YAML reads `on` as true
    assert {"make lint", "make test"} <= set(runs)


def commands(workflow):
    """What it asks `make` for, in its steps or in its matrix."""
    for job in workflow["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        yield from matrix.get("command", [])
        for step in job.get("steps", []):
            yield from re.findall(r"^make ([\w./-]+)", step.get("run", ""))


@pytest.mark.parametrize("name", ["platforms", "publish", "test", "weekly"])
def test_workflows_call_commands_that_exist(name):
    workflow = yaml.safe_load(read(f".github/workflows/{name}.yml"))
    called = set(commands(workflow))
    there = re.findall(r"^([\w./-]+):", read("Makefile"), re.MULTILINE)
    assert called
    assert called <= set(there)


def test_no_hook_is_fetched():
    hooks = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert {repo["repo"] for repo in hooks} == {"local"}


def test_the_edition_cited_is_the_last_one_released():
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", read("CHANGELOG.md"),
                          re.MULTILINE)
    cited = yaml.safe_load(read("CITATION.cff"))
    site = yaml.safe_load(read("_config.yml"))
    assert cited["version"] == released[0]
    assert cited["title"].startswith(site["title"] + ":")
    assert [author["name"] for author in cited["authors"]] == [site["author"]]


def test_notebooks_merge_by_cell():
    lines = read(".gitattributes").splitlines()
    assert "*.ipynb diff=jupyternotebook merge=jupyternotebook" in lines
