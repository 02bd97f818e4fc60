"""GitHub's and others' schemas, as check-jsonschema carries them."""

from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner


def follows(schema, *paths):
    """Do files follow a schema of this name?"""
    check = ["--builtin-schema", f"vendor.{schema}", *paths]
    return CliRunner().invoke(check_jsonschema, check).exit_code == 0
