"""Arguments and results: nested dicts, tuples and lists of leaves."""

from collections.abc import Callable
from typing import Any


def leaves(value: Any) -> list[Any]:
    """The arrays, numbers and other things in a value, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The value with every leaf replaced by function(leaf)."""
    if isinstance(value, dict):
        return {key: mapped(function, part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return type(value)([mapped(function, part) for part in value])
    return function(value)
