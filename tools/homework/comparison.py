"""How a variant's check compares: this function goes into the notebook."""


def first_wrong(answer, cases, close):
    """A hint for the first case whose result is not right; or None."""
    import copy

    import numpy as np

    def wrong(got, want, part):
        if isinstance(want, dict):
            if not isinstance(got, dict) or got.keys() != want.keys():
                return f"is {part} a dictionary with {', '.join(want)}?"
            return next(filter(None, (wrong(got[key], want[key], key)
                                      for key in want)), None)
        if isinstance(want, tuple | list):
            try:
                parts = len(got)
            except TypeError:           # a number has none
                parts = 0
            if parts != len(want):
                return f"has {part} {len(want)} parts?"
            return next(filter(None, (
                wrong(got[i], want[i], f"number {i + 1}")
                for i in range(len(want)))), None)
        if np.shape(got) != np.shape(want):
            return f"is the shape of {part} {np.shape(want)}?"
        exact = np.asarray(want).dtype.kind in "biu"
        if not (np.array_equal(np.asarray(got), want) if exact
                else close(got, want)):
            return f"is {part} right?"

    for i, (given, want) in enumerate(cases):
        kept = copy.deepcopy(given)
        got = answer(*kept)
        if got is None:
            return "does your function return its result?"
        if hint := wrong(got, want, "the result"):
            return f"{hint} See case {i}, counted from 0"
        if wrong(kept, given, "an argument"):
            return "do you leave the arguments as they were?"
