"""Answers to the exercises of chapter 22: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""


def draw_22_1(rng):
    """Inputs, outputs, ridge; at times a ridge that none, or few, reach."""
    d, k = (int(x) for x in rng.integers(1, 300, size=2))
    most = d * k // (d + k)
    ridge = int(rng.integers(1, 2 * most + 3))
    return (d, k, max(1, most)) if rng.random() < 0.3 else (d, k, ridge)


def draw_22_2(rng):
    """A share of the time, and a report that it explains, or does not."""
    return float(rng.uniform(0.01, 0.95)), float(10 ** rng.uniform(-3, 1))


def draw_22_3(rng):
    """Chunks in and out, cycles per tile."""
    return tuple(int(x) for x in rng.integers(1, (12, 12, 7)))


def draw_22_4(rng):
    """A drifting machine; programs near and far from the standard."""
    rounds, programs = int(rng.integers(1, 12)), int(rng.integers(3, 9))
    times = 10 ** rng.uniform(-3, 3, size=(rounds, 1)) * (
        1 + rng.uniform(-0.4, 0.4, size=programs))
    return (times * rng.uniform(0.8, 1.2, size=(rounds, programs)),)


DOMAIN = {"22.1": draw_22_1, "22.2": draw_22_2, "22.3": draw_22_3,
          "22.4": draw_22_4}
PRECISE = {}

RIGHT = [
    ("22.1", "as a fraction", """
from fractions import Fraction
rest = Fraction(1, ridge) - Fraction(d + k, d * k)  # 1 / T at the ridge
return [0.625, d * k / (d + d * k + k), math.ceil(1 / rest) if rest > 0 else 0]
"""),
    ("22.1", "by the quotient, into an array", """
top, left = ridge * d * k, d * k - ridge * (d + k)
return np.array([5 / 8, 1 / (1 + 1 / d + 1 / k),
                 (top + left - 1) // left if left > 0 else 0])
"""),
    ("22.2", "by the time that is left", """
left = 1 / (1 + more)
norms = left - (1 - share)
return [share / (1 - share), more / (1 + more),
        share / norms if norms > 0 else math.inf]
"""),
    ("22.2", "through (22.3)", """
gone = 1 - 1 / (1 + more)
if gone >= share:
    return amdahl(share) - 1, gone, np.inf
return np.array([amdahl(share) - 1, gone, 1 / (1 - gone / share)])
"""),
    ("22.3", "tile by tile", """
def last(ready):
    for t in range(C * K):
        ready = max(ready, load * (t + 1)) + 1
    return ready
return last(2 * C), last(0) + 1
"""),
    ("22.3", "cycle by cycle, on three units", """
def total(wait, behind):
    now = done = 0
    while done < C * K:
        if now >= wait and now >= load * (done + 1):    # loaded by now
            done += 1
        now += 1
    return now + behind
return [total(2 * C, 0), total(0, 1)]
"""),
    ("22.4", "program by program", """
def median(p):
    return np.median([row[p] / row[0] for row in times])
noise = abs(median(1) - 1)
found = []
for p in range(2, times.shape[1]):
    ratio = median(p)
    found.append(1.0 if abs(ratio - 1) <= noise else ratio)
return found
"""),
    ("22.4", "with a mask", """
found = np.median(times.T / times.T[0], axis=1)
off = np.abs(found - 1)
answer = found[2:].copy()
answer[off[2:] <= off[1]] = 1
return answer
"""),
]

WRONG = [
    ("22.1", "one byte a number", "at 2 bytes each", """
left = d * k - ridge * (d + k)
return 5 / 4, d * k / (d + d * k + k), -(-ridge * d * k // left) * (left > 0)
"""),
    ("22.1", "one input less", "two numbers come in", """
return 5 / 6, d * k / (d + d * k + k), 0
"""),
    ("22.1", "FLOPs alone", "over which bytes", """
return 5, d * k / (d + d * k + k), 0
"""),
    ("22.1", "no factor 2 in the FLOPs", "both the 2 FLOPs", """
return 5 / 8, d * k / (d + d * k + k) / 2, 0
"""),
    ("22.1", "the matrix alone", "do token, matrix and outputs", """
return 5 / 8, 1, 0
"""),
    ("22.1", "tokens equal the ridge", "far below d and k", """
return 5 / 8, d * k / (d + d * k + k), ridge * (d * k > ridge * (d + k))
"""),
    ("22.1", "a formula without its bound", "what if that is below", """
return (5 / 8, d * k / (d + d * k + k),
        abs(-(-ridge * d * k // (d * k - ridge * (d + k)))))
"""),
    ("22.1", "not rounded", "a whole number", """
left = d * k - ridge * (d + k)
return (5 / 8, d * k / (d + d * k + k),
        ridge * d * k / left if left > 0 else 0)
"""),
    ("22.1", "rounded down", "round up", """
left = d * k - ridge * (d + k)
return (5 / 8, d * k / (d + d * k + k),
        ridge * d * k // left if left > 0 else 0)
"""),
    ("22.1", "rounded up by adding 1", "round up", """
left = d * k - ridge * (d + k)
return (5 / 8, d * k / (d + d * k + k),
        ridge * d * k // left + 1 if left > 0 else 0)
"""),
    ("22.2", "the share itself", "less time per token is not more", """
return share, 1 - 1 / (1 + more), 1
"""),
    ("22.2", "how many times", "how many MORE", """
return 1 / (1 - share), 1 - 1 / (1 + more), 1
"""),
    ("22.2", "what the share leaves", "what remains", """
return 1 - share, 1 - 1 / (1 + more), 1
"""),
    ("22.2", "more is gone", "is not less time per token", """
return share / (1 - share), more, 1
"""),
    ("22.2", "left for gone", "this share of the time is left", """
return share / (1 - share), 1 / (1 + more), 1
"""),
    ("22.2", "divided by what remains", "by what is the time", """
return share / (1 - share), more / (1 - share), 1
"""),
    ("22.2", "a negative factor", "cannot lose more time", """
gone = 1 - 1 / (1 + more)
return share / (1 - share), gone, share / (share - gone)
"""),
    ("22.2", "new over old", "not new over old", """
gone = 1 - 1 / (1 + more)
factor = (share - gone) / share if gone < share else math.inf
return share / (1 - share), gone, factor
"""),
    ("22.2", "gone over the share", "taken from the norms", """
gone = 1 - 1 / (1 + more)
factor = 1 + gone / share if gone < share else math.inf
return share / (1 - share), gone, factor
"""),
    ("22.3", "loads after the norm", "do the loads wait for the norm", """
return 2 * C + load * C * K + 1, load * C * K + 2
"""),
    ("22.3", "no loads", "must a tile not wait", """
return C * K + 2 * C, C * K + 1
"""),
    ("22.3", "the sum of both waits", "which is later", """
return 2 * C + C * K + load, load * C * K + 2
"""),
    ("22.3", "tiles in cycle 0", "no tile can start in cycle 0", """
return max(2 * C + C * K, load * C * K + 1), C * K + 1
"""),
    ("22.3", "nothing left to scale", "still to be scaled", """
return max(2 * C + C * K, load * C * K + 1), load * C * K + 1
"""),
    ("22.3", "every column is scaled at the end", "what follows", """
return max(2 * C + C * K, load * C * K + 1), load * C * K + 1 + K
"""),
    ("22.4", "no control", "nearer to 1", """
return np.median(times / times[:, :1], axis=0)[2:]
"""),
    ("22.4", "all columns", "no number of their own", """
ratios = np.median(times / times[:, :1], axis=0)
return np.where(abs(ratios - 1) > abs(ratios[1] - 1), ratios, 1.0)
"""),
    ("22.4", "medians divided", "divide within a round", """
ratios = np.median(times, axis=0) / np.median(times[:, 0])
return np.where(abs(ratios[2:] - 1) > abs(ratios[1] - 1), ratios[2:], 1.0)
"""),
    ("22.4", "means divided", "divide within a round", """
ratios = times.mean(axis=0) / times[:, 0].mean()
return np.where(abs(ratios[2:] - 1) > abs(ratios[1] - 1), ratios[2:], 1.0)
"""),
    ("22.4", "the control as the unit", "the unit is column 0", """
ratios = np.median(times / times[:, 1:2], axis=0)
return np.where(abs(ratios[2:] - 1) > abs(ratios[1] - 1), ratios[2:], 1.0)
"""),
    ("22.4", "one direction", "both directions", """
ratios = np.median(times / times[:, :1], axis=0)
return np.where(abs(ratios[2:] - 1) > ratios[1] - 1, ratios[2:], 1.0)
"""),
    ("22.4", "the mean of the ratios", "the median, not the mean", """
ratios = np.mean(times / times[:, :1], axis=0)
return np.where(abs(ratios[2:] - 1) > abs(ratios[1] - 1), ratios[2:], 1.0)
"""),
    ("22.4", "divided in place", "leave times as they were", """
times /= times[:, :1].copy()
ratios = np.median(times, axis=0)
return np.where(abs(ratios[2:] - 1) > abs(ratios[1] - 1), ratios[2:], 1.0)
"""),
]

HIDDEN = [
    ("22.1", "a ridge at infinity", "ZeroDivisionError", """
left = d * k - ridge * (d + k)
return (5 / 8, d * k / (d + d * k + k),
        -(-ridge * d * k // left) if left >= 0 else 0)
"""),
    ("22.3", "right for load up to 4", "is it right for C, K, load", """
load = min(load, 4)
return max(2 * C + C * K, load * C * K + 1), load * C * K + 2
"""),
    ("22.4", "ties kept", "not further", """
ratios = np.median(times / times[:, :1], axis=0)
return np.where(abs(ratios[2:] - 1) >= abs(ratios[1] - 1), ratios[2:], 1.0)
"""),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "22.1": {
        "asks": "formula",
        "one of": {"w": [1, 4, 6], "f": [4, 6, 7, 8, 9]},
        "says": """Each number of the matrix has {w} bytes; all others keep 2.
            The fused add and norm does {f} FLOPs for each number.""",
        "edits": [("tokens = -(-ridge * d * k // left)",
                   "tokens = -(-ridge * {w} * d * k // (2 * left))"),
                  ("return 5 / 8, d * k / (d + d * k + k)",
                   "return {f} / 8, 2 * d * k / (2 * d + {w} * d * k"
                   " + 2 * k)")]},
    "22.3": {
        "asks": "number",
        "one of": {"s": SMALL},
        "says": """The loads start in cycle {s}: tile $t$ can start in cycle
            ${s} +$ `load` $\\cdot (t+1)$ at the earliest.""",
        "edits": [("loaded = load * C * K  ", "loaded = {s} + load * C * K  ")
                  ]},
}
