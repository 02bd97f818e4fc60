"""Answers that nobody wrote: are they told apart from right ones?

python -m tools.battery [NN ...]     all chapters, or those; exit 1 for a hole

Around each right answer of a coding exercise stand
- mutants: one small change of its syntax each (mutants.py);
- broken promises: the answer, wrong in one way that its statement excludes
  (an input changed, one number of axes only, one length only, ...);
- students' kinds: the answer as a list, a tensor, or computed in float32.
A mutant or broken promise must be refused by check or grade, or be equivalent:
the same values and dtypes, and inputs left alone, for 1,000 inputs drawn by
the exercise's function in DOMAIN (tests/exercises/). Students' kinds must be
accepted, but those that PRECISE names with a reason.
"""

import contextlib
import copy
import inspect
import random
import time
import warnings
from collections import Counter
from functools import partial
from multiprocessing import Pool

import numpy as np
import torch

from course.answers import AnsweredExercise, Endless, deadline
from course.chapter import Chapter, chapters
from course.exercise import numbers
from course.values import leaves, mapped
from tools.battery.mutants import mutants

DRAWS = 1000                            # inputs on which equivalents are equal
PROMISES = {"inputs unchanged", "any leading axes", "dtype kept", "any sizes",
            "float16 returned", "float32 returned", "exact numbers"}
Row = tuple[str, str, str, str]         # kind, what, verdict, words


def judged(exercise, names):
    """"named", "graded" or "accepted", and the words of check or grade."""
    try:
        printed, raised = exercise.says(names)
    except Endless:
        return "named", "it does not end"
    if not printed.startswith(f"{exercise.number} correct"):
        return "named", printed
    return ("graded", raised) if raised else ("accepted", printed)


# ------------------------------------------------------- values and results

def at(i, function, value):
    """`value` with function applied to its leaf number i alone."""
    count = iter(range(10**6))
    return mapped(lambda leaf: function(leaf) if next(count) == i else leaf,
                  value)


def is_array(leaf):
    return isinstance(leaf, np.ndarray | torch.Tensor)


def is_float(leaf):
    if isinstance(leaf, torch.Tensor):
        return leaf.is_floating_point()
    return isinstance(leaf, float) or (
        isinstance(leaf, np.ndarray | np.floating) and leaf.dtype.kind == "f")


def spoiled(result):
    """Another result of the same shape and type."""
    def spoil(leaf):
        if isinstance(leaf, str | type(None)) or callable(leaf):
            return leaf
        if isinstance(leaf, bool | np.bool_) or str(
                getattr(leaf, "dtype", "")).endswith("bool"):
            return ~leaf if is_array(leaf) else not leaf
        return leaf * 1.5 + 0.25 if is_float(leaf) else leaf + 1
    return mapped(spoil, result)


def equal(a, b):
    """The same structure, dtypes and values, to a few last digits?"""
    if isinstance(a, dict) and isinstance(b, dict) and list(a) != list(b):
        return False
    if {is_array(a), is_array(b)} == {True, False}:  # a list is an array, too
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            a, b = (x if is_array(x) else np.array([*map(np.asarray, x)])
                    for x in (a, b))
    first, second = leaves(a), leaves(b)
    if len(first) != len(second):
        return False
    for x, y in zip(first, second, strict=True):
        if isinstance(x, str | type(None)) or callable(x):
            if type(x) is not type(y) or isinstance(x, str) and x != y:
                return False
            continue
        if getattr(x, "dtype", None) != getattr(y, "dtype", None):
            return False
        x, y = (leaf.detach().numpy() if isinstance(leaf, torch.Tensor)
                and leaf.dtype != torch.bfloat16 else np.asarray(leaf)
                for leaf in (x, y))
        if x.shape != y.shape:
            return False
        if x.dtype.kind in "fc":
            size = np.abs(x[np.isfinite(x)]).max(initial=0)
            close = {2: 1e-2, 4: 1e-5}.get(x.dtype.itemsize, 1e-9)
            if not np.allclose(x, y, rtol=close, atol=close * size * 1e-3,
                               equal_nan=True):
                return False
        elif not np.array_equal(x, y):
            return False
    return True


def outcome(function, given):
    """(result or the kind of exception, the inputs afterwards)."""
    given = copy.deepcopy(given)
    try:
        with np.errstate(all="ignore"):
            result = copy.deepcopy(function(*given))
    except Endless:
        raise
    except Exception as error:
        return type(error).__name__, given
    return result, given


def equivalent(exercise, right, other, draws=DRAWS):
    """Do both give the same, and leave their inputs alike, on all draws?"""
    with warnings.catch_warnings(), deadline(60):
        warnings.simplefilter("ignore")
        try:
            return all(
                equal(*pair) for given in map(exercise.inputs, range(draws))
                for pair in zip(outcome(right, given), outcome(other, given),
                                strict=True))
        except Endless:
            return False


# ------------------------------------------------------------------ broken

def overwrites(i, function, *given):
    """The result of `function`, and 1 added to an input."""
    result = copy.deepcopy(function(*copy.deepcopy(given)))
    if i < len(leaves(list(given))):
        leaf = leaves(list(given))[i]
        leaf[...] = ~leaf if "bool" in str(leaf.dtype) else leaf + 1
    return result


def returns(dtype, function, *given):
    return mapped(lambda leaf: np.asarray(leaf, dtype) if is_float(leaf)
                  else leaf, function(*given))


def one_number_of_axes(axes, function, *given):
    """Wrong where the first array has this number of axes."""
    first = next(leaf for leaf in leaves(list(given)) if is_array(leaf))
    result = function(*given)
    return spoiled(result) if first.ndim == axes else result


def one_length(seen, i, axis, function, *given):
    """Right only for the length of an axis that it saw first."""
    result = function(*given)
    if i >= len(leaves(list(given))):
        return result
    shape = leaves(list(given))[i].shape
    if len(shape) >= -axis and shape[axis] != seen.setdefault(0, shape[axis]):
        return spoiled(result)
    return result


def one_value(seen, i, function, *given):
    """Ignores a number: it takes the one that it was first given."""
    return function(*at(i, lambda leaf: seen.setdefault(0, leaf), given))


def changed(change, i, function, *given):
    return function(*at(i, change, given))


def clip(leaf):
    return leaf.clip(-50, 50)


def flush(leaf):
    """A row whose numbers are all below 0.001 becomes 0."""
    rows = abs(leaf).max(-1)[0] if isinstance(leaf, torch.Tensor) else abs(
        leaf).max(axis=-1, initial=0)
    return leaf * (rows >= 1e-3)[..., None]


def allow_all(leaf):
    return leaf | True


def coarse(function, *given):
    """The result with two digits."""
    def round_off(leaf):
        if not is_float(leaf):
            return leaf
        digits, power = np.frexp(np.asarray(leaf, dtype=float))
        return np.ldexp(np.round(digits * 128) / 128, power)
    return mapped(round_off, function(*given))


def broken(exercise):
    """{what is broken: wrapper(right answer, *inputs)} for its statement."""
    shapes = [leaves(exercise.inputs(seed)) for seed in range(60)]
    ways = {}
    for i, leaf in enumerate(shapes[0]):
        if not is_array(leaf):
            if isinstance(leaf, int | float) and not isinstance(leaf, bool):
                ways[f"one value of number {i}"] = partial(one_value, {}, i)
            continue
        if "inputs unchanged" in exercise.promises:
            ways[f"changes input {i}"] = partial(overwrites, i)
        ranks = [len(inputs[i].shape) for inputs in shapes if len(inputs) > i]
        for axis in range(-1, -min(max(ranks), 3) - 1, -1):
            if len({inputs[i].shape[axis] for inputs in shapes
                    if len(inputs) > i and len(inputs[i].shape) >= -axis}) > 1:
                ways[f"one length of axis {axis} of input {i}"] = partial(
                    one_length, {}, i, axis)
        if "bool" in str(leaf.dtype):
            ways[f"all True in input {i}"] = partial(changed, allow_all, i)
        elif is_float(leaf):
            for change in clip, abs, flush:
                ways[f"{change.__name__} of input {i}"] = partial(
                    changed, change, i)
    arrays = [next(filter(is_array, inputs), None) for inputs in shapes]
    for axes in {x.ndim for x in arrays if x is not None}:
        ways[f"wrong for {axes} axes"] = partial(one_number_of_axes, axes)
    if "dtype kept" in exercise.promises:
        ways["float64 returned"] = partial(returns, np.float64)
        ways["float32 returned"] = partial(returns, np.float32)
    ways["two digits"] = coarse
    return ways


# ----------------------------------------------------------- students' kinds

def in_float32(function, *given):
    """Computed in float32, and the result widened again."""
    def cast(leaf, old, new):
        if not is_array(leaf) or str(leaf.dtype).split(".")[-1] != old:
            return leaf
        return leaf.to(getattr(torch, new)) if isinstance(
            leaf, torch.Tensor) else leaf.astype(new)

    result = function(*mapped(
        lambda leaf: cast(leaf, "float64", "float32"), given))
    if all(cast(leaf, "float64", "float32") is leaf
           for leaf in leaves(list(given))):
        return result                               # it was narrow before
    return mapped(lambda leaf: cast(leaf, "float32", "float64"), result)


def as_list(function, *given):
    return mapped(lambda leaf: leaf.tolist() if is_array(leaf) else leaf,
                  function(*given))


def as_tensor(function, *given):
    return mapped(lambda leaf: torch.from_numpy(leaf.copy()) if isinstance(
        leaf, np.ndarray) else leaf, function(*given))


def kinds(exercise):
    """{how a student writes it: wrapper}, those that must be accepted."""
    ways = {"in float32": in_float32, "as a tensor": as_tensor}
    if not exercise.promises & {"dtype kept", "float16 returned",
                                "float32 returned"}:
        ways["as a list"] = as_list
    return {how: way for how, way in ways.items()
            if how not in exercise.precise}


# ---------------------------------------------------------------- the battery

def gaps(exercise):
    """What the exercise's statement or its DOMAIN fails to say."""
    if not exercise.promises:
        yield "NO LINE `Promises: ...` ends the statement"
    for promise in exercise.promises - PROMISES:
        yield f"UNKNOWN promise {promise!r}: one of {sorted(PROMISES)}"
    for name in sorted(exercise.borrowed()):
        yield f"BORROWED {name}, a function of the lesson, by check or grade"
    if exercise.draw is None:
        yield "NO DOMAIN in tests/exercises"
        return
    drawn = [[leaf for leaf in leaves(list(exercise.inputs(seed)))
              if is_array(leaf)] for seed in range(60)]
    if any(drawn) and "inputs unchanged" not in exercise.promises:
        yield "SILENT on whether inputs are unchanged"
    if "any leading axes" in exercise.promises:
        if len({given[0].ndim for given in drawn}) < 3:
            yield "DOMAIN draws fewer than three numbers of leading axes"
    if "dtype kept" in exercise.promises:
        if len({str(given[0].dtype) for given in drawn}) < 2:
            yield "DOMAIN draws one dtype only"


def wrapped(exercise, body, wrapper):
    """The names of an answer, its function wrapped."""
    names = exercise.names(body)
    right = names[exercise.name]
    names[exercise.name] = lambda *given, **named: wrapper(
        right, *inspect.signature(right).bind(*given, **named).args)
    return names


def candidates(exercise, some=None):
    """(kind, what, names, the right answer's names), or a sample of them."""
    rows = []
    for how, body in exercise.right:
        arguments = inspect.signature(exercise.names(body)[exercise.name])
        rows += [("mutant", f"{how}, {what}", text, body) for text, what
                 in mutants(body, {*arguments.parameters}).items()]
    own = exercise.right[0][1]
    rows += [("promise", what, wrapper, own)
             for what, wrapper in broken(exercise).items()]
    if some is not None:
        rows = random.Random(exercise.number).sample(rows, min(some, len(rows)))
    for kind, what, change, body in rows:
        names = (exercise.names(change) if kind == "mutant"
                 else wrapped(exercise, body, copy.deepcopy(change)))
        yield kind, what, names, body


def tried(exercise: AnsweredExercise, some: int | None = None,
          draws: int = DRAWS) -> list[Row]:
    """Each candidate: named, graded, equivalent, or accepted, a hole."""
    rows = []
    for kind, what, names, body in candidates(exercise, some):
        answer = names[exercise.name]
        verdict, words = judged(exercise, names)
        if verdict == "accepted":
            right = exercise.names(body)[exercise.name]
            if equivalent(exercise, right, answer, draws):
                verdict = "equivalent"
        rows.append((kind, what, verdict, words))
    return rows


def refused(exercise):
    """Right answers, as students write them, that are refused: (how, words)."""
    own = exercise.right[0][1]
    for how, way in kinds(exercise).items():
        verdict, words = judged(exercise, wrapped(exercise, own, way))
        if verdict != "accepted":
            yield how, words


def lines_of(exercise: AnsweredExercise, rows: list[Row]
             ) -> tuple[list[str], int]:
    """What an author wants to read of the rows of an exercise, and its holes.

    More than 5 % of equivalent mutants are a hole, too.
    """
    holes = [*gaps(exercise)]
    holes += [f"ACCEPTED {kind}: {what}" for kind, what, verdict, _ in rows
              if verdict == "accepted"]
    if exercise.draw:
        holes += [f"REFUSED {how}: {words}" for how, words in refused(exercise)]
    same = [what for kind, what, verdict, _ in rows
            if (kind, verdict) == ("mutant", "equivalent")]
    if len(same) > 0.05 * sum(kind == "mutant" for kind, *_ in rows):
        return [*holes, *(f"equivalent, over 5 %: {what}" for what in same)
                ], len(holes) + 1
    return holes, len(holes)


def report(chapter: Chapter) -> tuple[list[str], Counter, int]:
    """(lines to print, verdicts by kind, holes) of a chapter."""
    lines, counts, holes = [chapter.name], Counter(), 0
    for number in numbers(chapter.notebook):
        exercise, start = AnsweredExercise(chapter, number), time.perf_counter()
        rows = tried(exercise) if exercise.draw else []
        own, more = lines_of(exercise, rows)
        counts.update((kind, verdict) for kind, _, verdict, _ in rows)
        lines += [f"{number}: {len(rows)} tried, {more} holes,"
                  f" {time.perf_counter() - start:.0f} s",
                  *(f"  {line}" for line in own)]
        holes += more
    return lines, counts, holes


def main(chosen: list[str]) -> bool:
    """Try the chapters named, or all; whether there are holes."""
    total, holes = Counter(), 0
    with Pool(2) as pool:
        for lines, counts, more in pool.imap_unordered(
                report, chapters(*chosen)):
            print(*lines, sep="\n", flush=True)
            total += counts
            holes += more
    for (kind, verdict), count in sorted(total.items()):
        print(f"{kind:8} {verdict:10} {count:5}")
    print(f"{holes} holes")
    return bool(holes)
