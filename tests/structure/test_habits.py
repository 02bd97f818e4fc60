"""What a project keeps beside its text: forms, locks, rights, releases."""

import re
from importlib.metadata import distributions

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course.code import closure
from course.paths import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))
FORMS = {                               # {schema: the files that follow it}
    "citation-file-format": [ROOT / "CITATION.cff"],
    "dependabot": [GITHUB / "dependabot.yml"],
    "github-issue-config": [GITHUB / "ISSUE_TEMPLATE/config.yml"],
    "github-issue-forms": [*GITHUB.glob("ISSUE_TEMPLATE/[0-9]*.yml")],
    "github-workflows": WORKFLOWS,
}
OFFICIAL = re.compile(r"actions/[a-z-]+@[0-9a-f]{40}")
RIGHTS = {"deploy": {"pages": "write", "id-token": "write"},
          "student": {"contents": "write"}}


def read(name):
    return (ROOT / name).read_text("utf-8")


def packages(lines):
    """{package: its requirement} of what holds here."""
    every = [Requirement(line.partition(" #")[0]) for line in lines
             if line and not line.startswith(("#", "-"))]
    return {canonicalize_name(package.name): package for package in every
            if not package.marker or package.marker.evaluate({"extra": ""})}


@pytest.mark.parametrize("schema", FORMS)
def test_forms_follow_their_schemas(schema):
    check = ["--builtin-schema", f"vendor.{schema}", *map(str, FORMS[schema])]
    assert CliRunner().invoke(check_jsonschema, check).exit_code == 0


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_official_actions_and_least_permissions(path):
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job.get("permissions") == RIGHTS.get(name)
        assert "uses" in job or job["timeout-minutes"] <= 120
        for step in job.get("steps", []):
            assert "run" in step or OFFICIAL.fullmatch(step["uses"])


def test_the_job_that_pushes_runs_nothing_of_ours():
    jobs = yaml.safe_load(read(".github/workflows/publish.yml"))["jobs"]
    download, push = jobs["student"]["steps"]
    assert "download-artifact" in download["uses"]
    assert not re.search(r"\b(make|python|pip|bash|sh)\b|\./", push["run"])


def test_no_page_is_published_before_its_tests():
    jobs = yaml.safe_load(read(".github/workflows/publish.yml"))["jobs"]
    needs = {name: [job["needs"]] if isinstance(job["needs"], str)
             else job["needs"] for name, job in jobs.items() if "needs" in job}
    assert all("test" in closure([name], needs) for name in jobs)
    assert "make test" in read(jobs["test"]["uses"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_commands_that_exist(path):
    text = path.read_text("utf-8")
    called = {*re.findall(r"\bmake ([a-z./][\w./-]*)$", text, re.MULTILINE)}
    for matrix in re.findall(r"command: \[(.*)\]", text):
        called |= {*matrix.split(", ")}
    assert called <= {*re.findall(r"(?m)^([\w./-]+):", read("Makefile"))}


def test_pins_and_constraints_agree():
    lines = read("requirements.txt").splitlines()
    lock = packages(read("constraints.txt").splitlines())
    assert "-c constraints.txt" in lines
    for name, package in packages(lines).items():
        assert str(package.specifier).startswith("==")
        assert package.specifier == lock[name].specifier


def test_constraints_name_whatever_is_needed():
    """Follows what is installed: another package wants a new lock."""
    needs = {canonicalize_name(each.name): packages(each.requires or [])
             for each in distributions()}
    pins = packages(read("requirements.txt").splitlines())
    needed = closure(pins, needs)
    assert len(needed) > 100
    assert not needed - {*packages(read("constraints.txt").splitlines())}


def test_no_hook_is_fetched():
    hooks = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert {repo["repo"] for repo in hooks} == {"local"}


def test_the_edition_cited_is_the_last_one_released():
    released = re.search(r"(?m)^## \[(\d+\.\d+\.\d+)\]", read("CHANGELOG.md"))
    cited = yaml.safe_load(read("CITATION.cff"))
    site = yaml.safe_load(read("_config.yml"))
    assert cited["version"] == released[1]
    assert cited["title"].startswith(site["title"] + ":")
    assert [author["name"] for author in cited["authors"]] == [site["author"]]
