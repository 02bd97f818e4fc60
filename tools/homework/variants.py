"""Variants: exercises changed so that the published solution is wrong.

A variant, in VARIANTS of tests/exercises/, has

asks     what is new: "formula" (it has to be derived anew), "order" (of axes
         or steps), or "number" (another one in a place that must be found)
one of   lists, from which the numbers of a term are chosen
says     the sentence that changes what is asked
edits    (a piece of the published solution, what stands there instead)
words    the same of the statement, where a sentence would be false: its check
         is another one

The course's seed, a secret, and the term choose the numbers, and then the
inputs of the check and of the hidden tests, from the domain that the same file
states. What is right for them, the edited solution says.
"""

import copy
import hashlib
import inspect
import os
import random
import re
import secrets
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import fill, indent

import numpy as np

from course.values import leaves, mapped
from tools.homework.comparison import first_wrong

SEED = Path.home() / ".config" / "inside-the-transformer" / "seed"
MOST = 600                              # numbers in one case of a test
TRIED = 400                             # draws until there are enough cases
READ = 10                               # digits of a result that a check shows
COUNTS = "This counts where the lines above say otherwise."
CHECK = '''# @title Check {number}
def cases_{suffix}():
    """Arguments, and the result that is right for them."""
    return {cases}


def check_{suffix}():
    """A hint for the first result that is wrong; or None."""
    return first_wrong({name}, cases_{suffix}(), close)


print(verdict("{number}", check_{suffix}))'''
GRADE = '''# @title Grade {number}: your teacher's tests run here
### BEGIN HIDDEN TESTS
def hidden_{suffix}():
    return {cases}


def grade_{suffix}():
    """The cases of the check, and those that students do not see."""
    return first_wrong({name}, [*cases_{suffix}(), *hidden_{suffix}()], close)


said = verdict("{number}", grade_{suffix})
assert said.startswith("{number} correct"), said
### END HIDDEN TESTS'''


class Impossible(ValueError):
    """In words, why there is no such homework."""


@dataclass
class Made:
    """A variant with its numbers: what changed, and the four cells."""
    says: str
    sources: tuple[str, str, str, str]


def seed():
    """The course's secret: COURSE_SEED, or a file outside the repository."""
    if given := os.environ.get("COURSE_SEED"):
        return given
    if not SEED.exists():
        SEED.parent.mkdir(parents=True, exist_ok=True)
        SEED.touch(mode=0o600)
        SEED.write_text(secrets.token_hex(16) + "\n", "utf-8")
        print(f"A seed for variants is now in {SEED}: keep it, and secret.")
    return SEED.read_text("utf-8").strip()


def comparison():
    return inspect.getsource(first_wrong).rstrip()


def values(variant, key):
    """The numbers of a term: one of each list, as the seed chooses."""
    chance = random.Random(key)
    return {name: chance.choice(choices)
            for name, choices in variant["one of"].items()}


def solution(variant, published, numbers):
    """The published solution cell, edited."""
    source = published
    for old, new in variant["edits"]:
        old, new = old.strip("\n"), new.strip("\n")
        if source.count(old) != 1:
            raise Impossible(f"the solution has no single {old!r} to change")
        source = source.replace(old, new.format(**numbers))
    return source


def statement(variant, published, numbers):
    """The published statement, edited, and what changed in front of promises.

    -> the statement, the sentence
    """
    text, says = published, " ".join(variant["says"].format(**numbers).split())
    for old, new in variant.get("words", ()):
        piece = re.compile(r"\s+".join(map(re.escape, old.split())))
        if len(piece.findall(text)) != 1:
            raise Impossible(f"the statement has no single {old!r} to change")
        text = piece.sub(lambda _, new=new: new.format(**numbers), text)
    body, promises = text.rsplit("\n\nPromises:", 1)
    changed = fill(f"**Changed for this homework.** {says} {COUNTS}", 80)
    return f"{body}\n\n{changed}\n\nPromises:{promises}", says


def is_fit(case):
    """Can a test hold it? It must be finite, small, and not empty."""
    parts = leaves(case)
    return all(isinstance(leaf, bool | int | float | np.generic | np.ndarray)
               and np.size(leaf) and np.asarray(leaf).dtype.kind in "biuf"
               and not np.isnan(np.asarray(leaf, float)).any()
               for leaf in parts) and sum(map(np.size, parts)) <= MOST


def literal(value):
    """A value as it is written in Python."""
    if isinstance(value, dict):
        inside = (f"{key!r}: {literal(part)}" for key, part in value.items())
        return f"{{{', '.join(inside)}}}"
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(literal, value))}{comma})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, np.ndarray) and value.ndim:
        plain = value.dtype in (np.float64, np.int64, bool)
        kind = "" if plain else f", dtype=np.{value.dtype}"
        return f"np.array({literal(value.tolist())}{kind})"
    text = repr(value.item() if isinstance(value, np.generic | np.ndarray)
                else value)
    return text.replace("inf", "np.inf")


def written(cases):
    lines = (fill(literal(case), 76, break_long_words=False,
                  break_on_hyphens=False) for case in cases)
    return "[\n" + indent(",\n".join(lines), " " * 8) + "]"


def rounded(leaf, digits=3):
    """With few digits: what a check shows is to be read."""
    if np.asarray(leaf).dtype != np.float64:
        return leaf
    found = np.vectorize(lambda x: float(f"{x:.{digits}g}"),
                         otypes=[float])(leaf)
    return found if np.ndim(leaf) else float(found)


def result(function, given):
    try:
        with np.errstate(all="ignore"):
            return function(*copy.deepcopy(given))
    except (ValueError, ArithmeticError):
        return None


def draws(exercise, key):
    digest = hashlib.sha256(key.encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    for _ in range(TRIED):
        yield exercise.draw(rng)


def narrow(leaf):
    """As whoever works in float32 has it."""
    wide = isinstance(leaf, np.ndarray) and leaf.dtype == np.float64
    return leaf.astype(np.float32) if wide else leaf


def agree(got, want, close, tolerance):
    """Are both results the same, to this share of a row's largest number?"""
    return is_fit(got) and first_wrong(
        lambda: got, [((), want)],
        lambda got, want: close(got, want, tolerance)) is None


def cases(exercise, names, published, key, show=False):
    """Pairs of arguments and result; most tell the two answers apart.

    names: of the right answer. None needs more than float32, which `close`
    accepts, and none is so alike that it accepts the published one.
    show: two short ones to be read, in place of eight.
    """
    right, close = names[exercise.name], names["close"]
    apart, alike = [], []
    for given in draws(exercise, key):
        given = mapped(rounded, given) if show else given
        want = result(right, given)
        if not is_fit((given, want)) or not agree(
                result(right, mapped(narrow, given)), want, close, 2e-6):
            continue
        same = agree(result(published, given), want, close, 1e-3)
        (alike if same else apart).append((given, want))
        if len(apart) == (12 if show else 6):
            break
    if len(apart) < 6:
        raise Impossible(f"{exercise.number}: the published solution is right"
                       f" for {len(alike)} of {len(alike) + len(apart)} draws")
    if show:
        short = sorted(apart, key=lambda case: sum(map(np.size,
                                                       leaves(case))))[:2]
        return [(given, mapped(partial(rounded, digits=READ), want))
                for given, want in short]
    return [*apart, *alike[:2]]


def make(exercise, term, secret):
    """The variant of an exercise for a term."""
    variant, number = exercise.variant, exercise.number
    key = f"{secret} {term} {number}"
    numbers = values(variant, key)
    changed = solution(variant, exercise.solution.source, numbers)
    names = exercise.run(changed)
    published = exercise.run(exercise.solution.source)[exercise.name]
    text, says = statement(variant, exercise.statement, numbers)
    words = {"number": number, "suffix": number.replace(".", "_"),
             "name": exercise.name}
    return Made(says, (
        text,
        changed,
        CHECK.format(**words, cases=written(
            cases(exercise, names, published, f"{key} shown", True))),
        GRADE.format(**words, cases=written(
            cases(exercise, names, published, f"{key} hidden")))))
