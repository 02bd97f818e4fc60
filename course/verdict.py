"""How an answer is judged: the code of the locked cell `verdict`.

`make refresh` writes what stands below the imports of this page into each
chapter with exercises, under the title TITLE. Readers see it, so it has no
annotations.
"""

import inspect
import linecache
import traceback

import numpy as np

TITLE = "How an answer is judged: close and verdict"


def close(got, want, tolerance=1e-5):
    """Does each row of got equal want, as a share of its largest number?

    Keeps the largest difference that it let pass in close.off.
    """
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    if got.shape != want.shape:
        return False
    got, want = np.atleast_1d(got, want)
    with np.errstate(all="ignore"):
        same = (got == want) | np.isnan(got) & np.isnan(want)
        row = np.where(np.isfinite(want), abs(want), 0)
        row = row.max(axis=-1, keepdims=True, initial=1e-300)
        off = np.where(same, 0, abs(got - want) / row).max(initial=0)
    if not off <= tolerance:                        # NaN is not close either
        return False
    close.off = max(close.off, off)
    return True


close.off = 0


def where_it_stops(error, check):
    """The line of the answer that raised, and the shapes it was given."""
    words = f"{type(error).__name__}: {error}"
    ours = verdict.__code__.co_filename, check.__code__.co_filename
    theirs = [(frame, line) for frame, line
              in traceback.walk_tb(error.__traceback__)
              if frame.f_globals is check.__globals__
              and frame.f_code.co_filename not in ours]
    if not theirs:
        if "NoneType" in words:
            return f"does your function return its result? ({words})"
        ask = "shapes clash: " if "broadcast" in words else ""
        return f"{ask}it stops with {words}"
    (frame, line), *_ = theirs
    code = frame.f_code
    shapes = [f"{name} {np.shape(frame.f_locals[name])}"
              for name in code.co_varnames[:code.co_argcount]
              if hasattr(frame.f_locals.get(name), "shape")]
    line = linecache.getline(code.co_filename, line).strip()
    try:
        source = inspect.getsource(code)
    except OSError:                                 # no text to be had
        source = ""
    reduces = ".mean(", ".sum(", ".max(", ".min(", ".var(", ".std(", ".norm("
    ask = ""
    if "broadcast" in words:
        ask = "shapes clash: "
        if "keepdims" not in source and any(r in source for r in reduces):
            ask = "shapes clash, is a keepdims=True missing? "
    there = f"; there {', '.join(shapes)}" if shapes else ""
    return f"{ask}it stops with {words}, in your line {line!r}{there}"


def verdict(exercise, check):
    """One line on your answer: correct, not yet and why, or not done yet.

    check() returns None, or a hint that names the mistake. Raises nothing.
    """
    close.off = 0
    try:
        with np.errstate(all="ignore"):
            hint = check()
    except Exception as error:
        if isinstance(error, NotImplementedError) and not error.args:
            return f"{exercise} not done yet"       # as the student edition
        hint = where_it_stops(error, check)
    if hint:
        return f"{exercise} not yet: {' '.join(str(hint).split())}"
    word = ", to the accuracy of float32" if close.off > 1e-9 else ""
    return f"{exercise} correct{word}"
