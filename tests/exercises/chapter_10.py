"""Answers to the exercises of chapter 10: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""



def draw_10_1(rng):
    return (int(rng.integers(1, 11)),)


def draw_10_4(rng):
    return (2 * int(rng.integers(2, 200)), float(10 ** rng.uniform(1, 6)),
            int(10 ** rng.uniform(0, 6)))


def draw_10_2(rng):
    far = 10 ** rng.uniform(0, 3)
    return (int(rng.integers(-far, far + 1)), 2 * int(rng.integers(1, 9)),
            float(10 ** rng.uniform(0.5, 6)))


def draw_10_3(rng):
    d_model, h, pairs = rng.integers(1, 8, size=3)
    W = rng.normal(size=(d_model, 2 * h * pairs))
    return W * 10 ** rng.uniform(-6, 3, size=(d_model, 1)), int(h)


DOMAIN = {"10.1": draw_10_1, "10.2": draw_10_2, "10.3": draw_10_3,
          "10.4": draw_10_4}
PRECISE = {}

RIGHT = [
    ("10.1", "by permutations", """
orders = math.perm(n)
return [1, orders, 1, n, orders]
"""),
    ("10.1", "in one line", """
return 1, math.factorial(n), 1, n, math.factorial(n)
"""),
    ("10.2", "without a loop", """
even = np.arange(0, d_model, 2)
turn = k * base ** (-even / d_model)
R = np.diag(np.repeat(np.cos(turn), 2))
R[even, even + 1] = -np.sin(turn)
R[even + 1, even] = np.sin(turn)
return R
"""),
    ("10.2", "by torch", """
blocks = []
for i in range(d_model // 2):
    turn = k * base ** (-2 * i / d_model)
    c, s = math.cos(turn), math.sin(turn)
    blocks.append(torch.tensor([[c, -s], [s, c]]))
return torch.block_diag(*blocks)
"""),
    ("10.2", "in float32", """
R = torch.zeros(d_model, d_model)
for j in range(0, d_model, 2):
    turn = torch.tensor(k * base ** (-j / d_model))
    R[j:j + 2, j:j + 2] = torch.tensor([[turn.cos(), -turn.sin()],
                                        [turn.sin(), turn.cos()]])
return R
"""),
    ("10.2", "by turning the identity", """
cos, sin = rope_tables([-k], d_model, base)
return rope_interleaved(np.eye(d_model), cos, sin)
"""),
    ("10.2", "by RoPE of k, transposed", """
cos, sin = rope_tables([k], d_model, base)
return rope_interleaved(np.eye(d_model), cos, sin).T
"""),
    ("10.3", "by slices", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (head[:, ::2], head[:, 1::2])], axis=1)
"""),
    ("10.3", "by indices", """
d_k = W.shape[1] // h
order = [head * d_k + j for head in range(h)
         for j in (*range(0, d_k, 2), *range(1, d_k, 2))]
return W[:, order]
"""),
    ("10.3", "by torch", """
d_model, width = W.shape
pairs = torch.tensor(W).view(d_model, h, width // h // 2, 2)
return pairs.transpose(2, 3).reshape(d_model, width)
"""),
    ("10.3", "column by column", """
d_k, Y = W.shape[1] // h, np.empty_like(W)
for head in range(h):
    for j in range(d_k // 2):
        Y[:, head * d_k + j] = W[:, head * d_k + 2 * j]
        Y[:, head * d_k + d_k // 2 + j] = W[:, head * d_k + 2 * j + 1]
return Y
"""),
    ("10.4", "pair by pair", """
omega = [base ** (-2 * p / d_k) for p in range(d_k // 2)]
power = 2 * (d_k // 2 - 1) / d_k
return [2 * np.pi / omega[-1], (n / np.pi) ** (1 / power),
        base * n ** (1 / power)]
"""),
    ("10.4", "through logarithms", """
power = 1 - 2 / d_k
return np.exp([math.log(2 * math.pi) + power * math.log(base),
               (math.log(n) - math.log(math.pi)) / power,
               math.log(base) + math.log(n) / power])
"""),
]

WRONG = [
    ("10.1", "ReLU sees no order", "so what", """
return 1, 1, 1, n, math.factorial(n)
"""),
    ("10.1", "adding positions is enough", "mean of a sum", """
return math.factorial(n), math.factorial(n), 1, n, math.factorial(n)
"""),
    ("10.1", "attention sees the order", "set of outputs", """
return 1, math.factorial(n), math.factorial(n), n, math.factorial(n)
"""),
    ("10.1", "one causal layer sees all", "what remains", """
return 1, math.factorial(n), 1, math.factorial(n), math.factorial(n)
"""),
    ("10.1", "one causal layer sees nothing", "what remains", """
return 1, math.factorial(n), 1, 1, math.factorial(n)
"""),
    ("10.1", "two causal layers as one", "stands before them", """
return 1, math.factorial(n), 1, n, n
"""),
    ("10.1", "for three tokens", "n = 2", """
return 1, 6, 1, 3, 6
"""),
    ("10.1", "four numbers", "five numbers", """
return 1, math.factorial(n), 1, n
"""),
    ("10.1", "nothing returned", "return its result", """
orders = math.factorial(n)
"""),
    ("10.1", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("10.2", "transposed", "which direction", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * base ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), np.sin(turn)],
                           [-np.sin(turn), np.cos(turn)]]
return R
"""),
    ("10.2", "both signs minus", "rotation", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * base ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [-np.sin(turn), np.cos(turn)]]
return R
"""),
    ("10.2", "half split", "make a pair", """
half = d_model // 2
turn = k * base ** (-np.arange(0, d_model, 2) / d_model)
c, s = np.diag(np.cos(turn)), np.diag(np.sin(turn))
return np.block([[c, -s], [s, c]])
"""),
    ("10.2", "no factor 2", "its own speed", """
R = np.zeros((d_model, d_model))
for i in range(d_model // 2):
    turn = k * base ** (-i / d_model)
    R[2 * i:2 * i + 2, 2 * i:2 * i + 2] = [[np.cos(turn), -np.sin(turn)],
                                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("10.2", "hands counted from 1", "fastest hand", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * base ** (-(j + 2) / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("10.2", "degrees", "k radians", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = np.radians(k * base ** (-j / d_model))
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("10.2", "all hands at one speed", "its own speed", """
block = [[np.cos(k), -np.sin(k)], [np.sin(k), np.cos(k)]]
return np.kron(np.eye(d_model // 2), block)
"""),
    ("10.2", "base forgotten", "base it is given", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * 10_000 ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("10.2", "mirror", "identity", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * base ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), np.sin(turn)],
                           [np.sin(turn), -np.cos(turn)]]
return R
"""),
    ("10.2", "one block only", "square", """
return np.array([[np.cos(k), -np.sin(k)], [np.sin(k), np.cos(k)]])
"""),
    ("10.2", "backwards, and no factor 2", "forwards", """
R = np.zeros((d_model, d_model))
for i in range(d_model // 2):
    turn = k * base ** (-i / d_model)
    R[2 * i:2 * i + 2, 2 * i:2 * i + 2] = [[np.cos(turn), np.sin(turn)],
                                           [-np.sin(turn), np.cos(turn)]]
return R
"""),
    ("10.2", "only forwards", "negative k", """
R, k = np.zeros((d_model, d_model)), abs(k)
for j in range(0, d_model, 2):
    turn = k * base ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("10.2", "the width 6", "d_model and base", """
R = np.zeros((d_model, d_model))
for j in range(0, d_model, 2):
    turn = k * base ** (-j / 6)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("10.2", "nothing returned", "return its result", """
R = np.eye(d_model)
"""),
    ("10.2", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("10.3", "heads run together", "keep its own columns", """
return np.concatenate([W[:, ::2], W[:, 1::2]], axis=1)
"""),
    ("10.3", "the other way", "from half split to interleaved", """
d_model, width = W.shape
halves = W.reshape(d_model, h, 2, width // h // 2)
return halves.swapaxes(-1, -2).reshape(d_model, width)
"""),
    ("10.3", "rows", "rows move", """
order = np.r_[0:len(W):2, 1:len(W):2]
return W[order]
"""),
    ("10.3", "second members first", "turn backwards", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (head[:, 1::2], head[:, ::2])], axis=1)
"""),
    ("10.3", "slow hands first", "order of their speed", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (head[:, -2::-2], head[:, ::-2])], axis=1)
"""),
    ("10.3", "second half reversed", "order of their speed", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (head[:, ::2], head[:, ::-2])], axis=1)
"""),
    ("10.3", "nothing changed", "one member of every pair", """
return W.copy()
"""),
    ("10.3", "first members only", "shape of W", """
return W[:, ::2]
"""),
    ("10.3", "a column twice", "exactly once", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (head[:, ::2], head[:, ::2])], axis=1)
"""),
    ("10.3", "h taken for d_k", "one member of every pair", """
pairs = W.reshape(len(W), -1, h // 2, 2)
return pairs.swapaxes(-1, -2).reshape(W.shape)
"""),
    ("10.3", "a minus sign", "numbers change", """
heads = np.split(W, h, axis=1)
return np.concatenate([part for head in heads
                       for part in (-head[:, 1::2], head[:, ::2])], axis=1)
"""),
    ("10.3", "rows turned", "numbers change", """
return rope_half_split(W, *rope_tables(range(len(W)), W.shape[1]))
"""),
    ("10.3", "heads in reverse", "its own columns", """
heads = np.split(W, h, axis=1)[::-1]
return np.concatenate([part for head in heads
                       for part in (head[:, ::2], head[:, 1::2])], axis=1)
"""),
    ("10.3", "in place", "leave W as it was", """
for head in np.split(W, h, axis=1):
    head[:] = np.concatenate([head[:, ::2], head[:, 1::2]], axis=1)
return W
"""),
    ("10.3", "heads of width 8", "h = 2, d_k = 10", """
order = np.array([0, 2, 4, 6, 1, 3, 5, 7])
order = np.concatenate([order + 8 * head for head in range(W.shape[1] // 8)])
return np.concatenate([W[:, order], W[:, len(order):]], axis=1)
"""),
    ("10.3", "three heads", "h = 2, d_k = 10", """
pairs = W.reshape(len(W), 3, -1, 2) if W.shape[1] % 6 == 0 else (
    W.reshape(len(W), 1, -1, 2))
return pairs.swapaxes(-1, -2).reshape(W.shape)
"""),
    ("10.3", "nothing returned", "return its result", """
W = W[:, np.r_[0:W.shape[1]:2, 1:W.shape[1]:2]]
"""),
    ("10.3", "not begun", "not done yet", """
raise NotImplementedError
"""),
    ("10.4", "the paper's rounded wavelength", "is the last p equal", """
power = (d_k - 2) / d_k
return 2 * math.pi * base, (n / math.pi) ** (1 / power), base * n ** (1 / power)
"""),
    ("10.4", "one radian", "one radian", """
power = (d_k - 2) / d_k
return base**power, (n / math.pi) ** (1 / power), base * n ** (1 / power)
"""),
    ("10.4", "pairs as features", "p = d_k/2 - 1", """
power = (d_k - 2) / d_k
return (2 * math.pi * base ** ((d_k - 1) / d_k),
        (n / math.pi) ** (1 / power),
        base * n ** (1 / power))
"""),
    ("10.4", "the fastest pair", "the fastest pair", """
power = (d_k - 2) / d_k
return 2 * math.pi, (n / math.pi) ** (1 / power), base * n ** (1 / power)
"""),
    ("10.4", "another pair", "the smallest frequency", """
power = (d_k - 2) / d_k
return (2 * math.pi * base ** ((d_k - 4) / d_k) / 3,
        (n / math.pi) ** (1 / power),
        base * n ** (1 / power))
"""),
    ("10.4", "a whole turn", "a whole turn", """
power = (d_k - 2) / d_k
return (2 * math.pi * base**power,
        (n / (2 * math.pi)) ** (1 / power),
        base * n ** (1 / power))
"""),
    ("10.4", "no power", "where is the power", """
power = (d_k - 2) / d_k
return 2 * math.pi * base**power, n / math.pi, base * n ** (1 / power)
"""),
    ("10.4", "the power upside down", "which base gives", """
power = (d_k - 2) / d_k
return (2 * math.pi * base**power,
        (n / math.pi) ** power,
        base * n ** (1 / power))
"""),
    ("10.4", "base times n", "slows the last pair by less", """
power = (d_k - 2) / d_k
return 2 * math.pi * base**power, (n / math.pi) ** (1 / power), base * n
"""),
    ("10.4", "a smaller base", "turn slower or faster", """
power = (d_k - 2) / d_k
return (2 * math.pi * base**power,
        (n / math.pi) ** (1 / power),
        base / n ** (1 / power))
"""),
    ("10.4", "the power upside down, too", "with s = n", """
power = (d_k - 2) / d_k
return 2 * math.pi * base**power, (n / math.pi) ** (1 / power), base * n**power
"""),
    ("10.4", "two numbers", "three numbers", """
power = (d_k - 2) / d_k
return 2 * math.pi * base**power, (n / math.pi) ** (1 / power)
"""),
    ("10.4", "nothing returned", "return its result", """
power = (d_k - 2) / d_k
"""),
    ("10.4", "not begun", "not done yet", """
raise NotImplementedError
"""),
]

HIDDEN = [
    ("10.1", "eight factorial at most", "n = 9", """
orders = math.factorial(min(n, 8))
return 1, orders, 1, n, orders
"""),
    ("10.2", "a table of 64 steps", "for k = 70", """
R, k = np.zeros((d_model, d_model)), min(max(k, -64), 64)
for j in range(0, d_model, 2):
    turn = k * base ** (-j / d_model)
    R[j:j + 2, j:j + 2] = [[np.cos(turn), -np.sin(turn)],
                           [np.sin(turn), np.cos(turn)]]
return R
"""),
    ("10.3", "six heads at most", "h = 7 and d_k = 10", """
d_k, Y = W.shape[1] // h, W.copy()
for head in range(min(h, 6)):
    own = slice(head * d_k, (head + 1) * d_k)
    Y[:, own] = np.hstack([W[:, own][:, ::2], W[:, own][:, 1::2]])
return Y
"""),
    ("10.4", "whole lengths", "n = 9.5", """
power = (d_k - 2) / d_k
return (2 * math.pi * base**power, (int(n) / math.pi) ** (1 / power),
        base * int(n) ** (1 / power))
"""),
]

SMALL = [2, 3, 4, 5, 6, 7, 8, 9]
VARIANTS = {
    "10.2": {
        "asks": "order",
        "one of": {"c": SMALL},
        "says": """The matrix acts from the left, on columns, and moves by {c}
            times as many rows: `R @ P[t]` is row $t + {c} k$.""",
        "edits": [("turn = k * base", "turn = {c} * k * base"),
                  ("""[[np.cos(turn), -np.sin(turn)],
                                   [np.sin(turn), np.cos(turn)]]""",
                   """[[np.cos(turn), np.sin(turn)],
                                   [-np.sin(turn), np.cos(turn)]]"""),
                  ("turns every hand by k steps: P[t] @ R_k = P[t + k].",
                   "turns every hand by {c} k steps: R_k @ P[t].")]},
    "10.4": {
        "asks": "formula",
        "one of": {"t": SMALL, "c": [3, 4, 5, 6, 7, 8, 9], "g": SMALL},
        "says": """In 1, the pair turns {t} times. In 2, it turns by
            $\\tfrac1{{{c}}}$ of a full turn. In 3, its frequency is
            $1/({g} n)$ of the other.""",
        "edits": [("return (2 * math.pi * base**power",
                   "return ({t} * 2 * math.pi * base**power"),
                  ("(n / math.pi) **", "({c} * n / (2 * math.pi)) **"),
                  ("base * n **", "base * ({g} * n) **")]},
}
