"""The sample exam: each number of its answers is computed from what is given.

By the course's own functions, or in a line of NumPy. The common mistakes are
computed as well: they are wrong in a known way.
"""

import ast
import math
import re
from functools import cache

import numpy as np
import pytest
import torch

from course.answers import AnsweredExercise
from course.chapter import chapters, functions
from course.paths import BOOK
from experiments.experiment import read_table

PAGE = (BOOK / "teaching_exam.md").read_text("utf-8")
QUESTIONS = {int(match[1]): match[0] for match in re.finditer(
    r"(?ms)^## Question (\d+):.*?(?=^## |\Z)", PAGE)}
PLAIN = re.compile(r"-?[\d,]*\d(\.\d+)?")
TEX = [(r"(?<=\d),(?=\d{3}\b)", ""), (r"\\(varepsilon|cdot|pi)", r" \1 "),
       (r"varepsilon", "eps"), ("cdot", "*"), (r"\\ln ([\d.]+)", r"ln(\1)"),
       (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
       (r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))"),
       (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
       (r"\\begin\{pmatrix\}", "(("), (r"\\end\{pmatrix\}", "))"),
       (r"\\\\", "), ("), ("&", ","), (r"\\ |\$", " "),
       (r"(?<=[\d)]) *(?=ln|eps|x|(?<=\))\()", "*")]


class Arrays(ast.NodeTransformer):
    """(1, 2) as an array."""

    def visit_Tuple(self, node):
        self.generic_visit(node)
        return ast.Call(ast.Name("array", ast.Load()),
                        [ast.List(node.elts, ast.Load())], [])


def value(cell, **names):
    """The number or array that a cell of a table writes; else its words."""
    if not (cell.startswith("$") or PLAIN.fullmatch(cell)):
        return cell
    for old, new in TEX:
        cell = re.sub(old, new, cell)
    tree = ast.fix_missing_locations(Arrays().visit(
        ast.parse(cell.strip(), mode="eval")))
    return eval(compile(tree, "cell", "eval"), {
        "ln": np.log, "sqrt": np.sqrt, "pi": np.pi, "array": np.array,
        "eps": 1.0} | names)


def rows(text, head):
    """[(label, A, B, ...)] of the table whose first head is `head`."""
    found = re.search(rf"(?m)^\| {head} \| A \| B .*\n.*\n((?:\|.*\n)+)", text)
    return [] if found is None else [
        [cell.strip() for cell in line.strip("|").split(" |")]
        for line in found[1].splitlines()]


def given(question, variant):
    """{label: what the page gives}; a formula of x as it is written."""
    cells = [(label, cells[variant])
             for label, *cells in rows(QUESTIONS[question], "given")]
    return doubled((label, cell if re.search(r"\dx|\}x", cell)
                    else value(cell)) for label, cell in cells)


def written(question, variant):
    """{(table, label): what the page says}, of answers and mistakes."""
    return {(head, label): value(cells[variant])
            for head in ("answer", "common mistake")
            for label, *cells in rows(QUESTIONS[question], head)
            if cells[variant]}


@cache
def book(number):
    return functions(number)


@cache
def solved(number):
    """The function that an exercise of the book asks for."""
    exercise = AnsweredExercise(chapters()[int(number.split(".")[0])], number)
    return exercise.run(exercise.solution.source)[exercise.name]


def question_1(g, variant):
    x = g["scores $x$"]
    with np.errstate(all="ignore"):
        plain = np.exp(x.astype(np.float32))
        plain /= plain.sum()
    weights = book("01").softmax(x)
    w = torch.tensor(float(g["weight"]), dtype=torch.bfloat16)
    for _ in range(g["times"]):
        w = w + torch.tensor(g["update"], dtype=torch.bfloat16)
    lse = solved("1.2")(x)
    yield "(a) weights", weights
    yield "(b) each weight", "NaN" if np.isnan(plain).all() else "a number"
    yield "(c) weights with the maximum subtracted", (
        np.exp(x - x.max()) / np.exp(x - x.max()).sum())
    yield "(d) log-sum-exp", lse
    yield "(e) weight in the end", w.item()
    yield "(d) the maximum is not added again", lse - x.max()
    yield "(d) only what is common is left out", lse - np.floor(x.min())
    yield "(e) the exact sum", g["weight"] + g["times"] * g["update"]


def question_2(g, variant):
    x, y, gain = g["token $x$"], g["token $y$"], g["gain $g$"]
    norm, eps = book("04").layer_norm, 1e-3
    z = np.array([-1, 1, 1, -1]) * np.sqrt(eps * g["variance of $z$"])
    right = norm(x, 1, 0, 0)
    yield "(a) layer normalization", right
    yield "(b) RMSNorm", book("05").rms_norm(y, gain, 0)
    yield "(c) of the changed token", norm(
        value(g["changed token"], x=x), 1, 0, 0)
    yield "(d) RMS", np.sqrt((norm(z, 1, 0, eps)**2).mean())
    yield "(a) divided by the variance", (x - x.mean()) / x.var()
    yield "(a) divided by the RMS of $x$, the mean stays", (
        x / np.sqrt((x**2).mean()))
    yield "(b) the gain is forgotten", book("05").rms_norm(y, 1, 0)
    yield "(c) the sign is lost", right
    yield r"(d) $\varepsilon$ is forgotten", np.sqrt(
        (norm(z, 1, 0, 0)**2).mean())


def question_3(g, variant):
    K, V = (np.array([row for label, row in g.items()
                      if label.startswith(kind)]) for kind in ("key", "value"))
    q = g["query of *she*, *he*"]
    third = g["scores of the third word"]
    attend, softmax = book("09").attention_weights, book("01").softmax
    products = K @ q
    # Queries whose products with the keys are these scores:
    S = 2 * np.tile(third, (4, 1))
    seen = book("09").causal_mask(4)
    yield "(a) scores", products / 2
    weights = attend(q[None], K)[0]
    yield "(b) weights", weights
    yield "(c) answer", book("09").attention(q[None], K, V)[0]
    yield "(d) largest weight without the root", softmax(products).max()
    yield "(e) weights of the third word", attend(S, np.eye(4), seen)[2]
    yield "(f) weight of the fourth word", softmax(
        np.where(seen[2], third, 0))[3]
    yield "(a) divided by $d_k$", products / 4
    yield "(a) not divided", products
    yield "(b) scores over their sum, without $e^x$", products / products.sum()
    yield "(c) the mean of the values", V.mean(axis=0)
    yield "(d) each weight squared, and not divided by their sum", (
        weights**2).max()
    yield "(e) masked behind the softmax", softmax(third) * seen[2]
    yield "(f) \"a score of 0 is a weight of 0\"", 0


def question_4(g, variant):
    code = re.findall(r"(?s)```python\n(def .*?)```", QUESTIONS[4])[variant]
    repaired = {
        0: code.replace("    weights = np.where(may_look, weights, 0)\n", "")
        .replace("    weights = np.exp", "    scores = np.where(may_look, "
                 "scores, -np.inf)\n    weights = np.exp"),
        1: code.replace("axis=0", "axis=1")}[variant]
    functions = []
    for source in (code, repaired):
        names = {"np": np}
        exec(source, names)
        functions.append(names["causal_attention"])
    wrong, right = functions
    first, *_, fourth = wrong(np.zeros((4, 2)), np.zeros((4, 2)),
                              np.ones((4, 2)))[:, 0]
    Q, K, V = np.random.default_rng(0).normal(size=(3, 4, 2))
    other = [np.concatenate([X[:3], [[3.0, -2.0]]]) for X in (Q, K, V)]
    answers = []
    for function in (wrong, right):
        same = np.allclose(function(Q, K, V)[0], function(*other)[0])
        answers.append("no" if same else "yes")
    assert answers[1] == "no"
    assert np.allclose(right(Q, K, V), book("09").attention(
        Q, K, V, book("09").causal_mask(4)))
    yield "(a) the mistake", written(4, variant)["answer", "(a) the mistake"]
    yield "(b) sum of the first word", first
    yield "(b) sum of the fourth word", fourth
    yield "(c) the first word changes", answers[0]
    yield "(d) corrected", "see below"
    yield "(b) the first word, \"it sees itself alone\"", 1
    if variant == 1:                                # in A it is right
        yield "(b) the fourth word, \"weights sum to 1\"", 1
    yield "(c) \"no, the mask hides the fourth word\"", answers[1]


def question_5(g, variant):
    def turned(x, t):
        angle = np.array([t * g[r"$\omega$"]])
        return book("10").rope_interleaved(x, np.cos(angle), np.sin(angle))

    def score(i, j):
        return turned(q, i) @ turned(k, j)

    q, k = g["query"], g["key"]
    i, j = g["its position"]
    X = np.random.default_rng(0).normal(size=(5, 4))
    Y = book("09").attention(X, X, X)
    back = book("09").attention(X[::-1], X[::-1], X[::-1])
    yield "(a) turned", turned(np.array([1.0, 0.0]), g["$t$ in (a)"])
    yield "(b) score", score(i, j)
    yield "(c) score, a hundred words later", score(i + 100, j + 100)
    yield "(d) output", ("the same rows, reversed"
                         if np.allclose(back, Y[::-1]) else "others")
    yield "(b) the sum of the positions in the cosine", score(i, -j)
    yield "(b) only the query turned", score(i, 0)
    yield "(b) not turned at all", q @ k


def question_6(g, variant):
    x, W_1, b_1, W_2 = g["$x$"], g["$W_1$"], g["$b_1$"], g["$W_2$"]
    n_vocab, d, n_layers, h, d_ff = (g[name] for name in (
        "vocabulary", r"$d_\mathrm{model}$", "blocks", "$h$",
        r"$d_\mathrm{ff}$"))
    layer, relu = book("12").feed_forward, book("12").relu
    inside = x @ W_1 + b_1
    model = solved("13.3")(n_vocab, d, n_layers, h, h, d_ff)
    one_key = solved("13.3")(n_vocab, d, n_layers, h, 1, d_ff)
    gains = 2 * n_layers * d + d
    yield "(a) before ReLU", inside
    yield "(a) output", layer(x, W_1, b_1, W_2, 0, relu)
    [silent] = np.flatnonzero(inside < 0)
    yield "(b) the unit, counted from 1", silent + 1
    yield "(c) attention of a block", 4 * d * d
    yield "(c) SwiGLU of a block", 3 * d * d_ff
    yield "(d) the model", model - n_vocab * d
    yield "(e) with one key head", 4 * d * d - (model - one_key) / n_layers
    yield "(a) output without ReLU", layer(x, W_1, b_1, W_2, 0, lambda x: x)
    yield "(a) output without $b_1$", layer(x, W_1, 0, W_2, 0, relu)
    yield "(c) SwiGLU with two matrices", 2 * d * d_ff
    yield "(d) an unembedding of its own", model
    yield "(d) gains forgotten", model - n_vocab * d - gains
    yield "(e) the query shared as well", d * d + 3 * d * d // h


def question_7(g, variant):
    layers, h, h_kv, d_k, free = g.values()
    token, fit, *_ = solved("15.1")(layers, h, h_kv, d_k, free)
    yield "(a) bytes for a token", token
    yield "(b) tokens", fit
    yield "(c) tokens without sharing", solved("15.1")(
        layers, h, h, d_k, free)[1]
    yield "(d) why no queries", written(7, variant)["answer",
                                                    "(d) why no queries"]
    yield "(a) keys only", token / 2
    yield "(a) one layer", token / layers
    yield "(a) one byte for a number", token / 2


def question_8(g, variant):
    anna, tom = g["Anna's key"], g["Tom's key"]
    values = [np.array([float(g[f"{name}'s value"])])
              for name in ("Anna", "Tom")]
    assert np.allclose([anna @ anna, tom @ tom], 1)
    write, read = book("17").write_delta, book("17").read_memory
    one, new = np.array(1.0), np.array([float(g["value in (d)"])])
    empty = np.zeros((1, 2))
    first = write(empty, anna, values[0], one)
    state = write(first, tom, values[1], one)
    total = book("17").write_sum(book("17").write_sum(
        empty, anna, values[0]), tom, values[1])
    yield "(a) what Tom's key reads before his write", read(first, tom)[0]
    yield "(a) state", state[0]
    yield "(b) answers, Anna's key first", np.concatenate(
        [read(state, anna), read(state, tom)])
    yield "(c) answers of the sum rule", np.concatenate(
        [read(total, anna), read(total, tom)])
    yield "(d) answer to Anna's key", read(write(
        state, anna, new, one / 2), anna)[0]
    yield "(a) state of the sum rule", total[0]
    other = np.array([1.0, 1.0]) - anna
    yield "(a) state, Tom's key taken as orthogonal", write(
        first, other, values[1], one)[0]
    yield "(c) \"the sum rule keeps both values\"", np.concatenate(values)
    yield "(d) half of the new value added", (read(state, anna) + new / 2)[0]


def question_9(g, variant):
    x, gain, W, c = g.values()
    folded = book("20").fold_gain(gain, W)
    rms = math.sqrt((x**2).mean())
    assert np.isclose(rms, 5)
    normed = book("05").rms_norm(x, gain, 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 2))
    right = book("20").deferred_linear(x, folded, c, 0)
    assert np.allclose(right, normed @ W + c)
    yield "(a) folded matrix", folded
    yield "(b) product, before the division", x @ folded
    yield "(b) output", right
    yield "(c) bias before the division", (x @ folded + c) / rms
    bare = book("05").rms_norm(X, 1, 0)
    full, M = book("05").rms_norm(X, gain, 0), rng.normal(size=(3, 2, 2))
    half = [bare @ (gain[:, None] * M[0]), bare @ (gain[:, None] * M[1]),
            bare @ M[2]]
    whole = [full @ matrix for matrix in M]
    weights, attention = book("09").attention_weights, book("09").attention
    for what, look in (("attention weights", lambda Q, K, V: weights(Q, K)),
                       ("answers", attention)):
        kept = np.allclose(look(*half), look(*whole))
        yield f"(d) {what}", "right" if kept else "wrong"
    for name in ("ReLU", "SiLU"):
        act = getattr(book("12"), name.lower())
        same = np.allclose(act(X / 5), act(X) / 5)
        yield f"(e) {name}", "the same" if same else "another result"
    yield "(a) the gain in the columns", W * gain
    yield "(b) output without the bias", right - c
    yield "(b) output, not divided", x @ folded + c
    yield "(b) output, divided by the length of $x$", (
        x @ folded / np.sqrt(x @ x) + c)


def question_10(g, variant):
    table = read_table(["14_warm_up", "13_depth"][variant])
    page = QUESTIONS[10].splitlines()
    printed = [line for line in table.lines[2:] if line in page]
    assert len(printed) == (5, 6)[variant]

    def row(label):
        [line] = [line for line in printed if line.startswith(f"| {label} |")]
        return np.array([float(cell) for cell in line.split("|")[2:-1]])

    if variant == 0:
        a = row("no warm-up, 300") - row("warm-up, 300")
        b = row("warm-up, 300") - row("no warm-up, 1200")
        against = row("only the means warm up, 300") > row("warm-up, 300")
        worse = row("only the means warm up, 300") > row("no warm-up, 300")
        assert worse.sum() == 4                     # "from four of them"
        assert (row("warm-up, 1200") < row("no warm-up, 1200")).all()
    else:
        a, b, loss = (sign * (row(f"{measure}, divided")
                              - row(f"{measure}, as drawn"))
                      for sign, measure in ((-1, "RMS before training"),
                                            (1, "right after 600 steps"),
                                            (-1, "loss before training")))
        less_lowered = loss[:, None] < loss - 0.02      # more than rounding
        against = (less_lowered & (b[:, None] > b)).any(axis=1)
        assert (b < 0).sum() == 2 and against[1]
    yield "(a)", "supports" if (a > 0).all() else "against"
    yield "(b)", "supports" if (b >= 0).all() else "against"
    yield "(b) seeds for which it holds", (b >= 0).sum()
    yield "(c)", "against" if against.any() else "supports"
    yield "(c) seeds that speak against it", against.sum()
    yield "(d)", "cannot say"
    yield "(e)", "a sentence, below"
    for label, *cells in rows(QUESTIONS[10], "common mistake"):
        if cells[variant]:
            yield label, "supports"


COMPUTED = {number: globals()[f"question_{number}"] for number in QUESTIONS}
each_variant = pytest.mark.parametrize("number, variant", [
    pytest.param(number, variant, id=f"{number}{'AB'[variant]}")
    for number in QUESTIONS for variant in (0, 1)])


def same(got, want):
    if isinstance(got, str) or isinstance(want, str):
        return got == want
    return np.shape(got) == np.shape(want) and np.allclose(
        got, want, rtol=1e-9, atol=1e-12)


def doubled(pairs):
    """As a dictionary; "its position" stands twice."""
    found = {}
    for label, item in pairs:
        found[label] = [found[label], item] if label in found else item
    return found


@each_variant
def test_the_answers_are_computed(number, variant):
    page = written(number, variant)
    found = dict(COMPUTED[number](given(number, variant), variant))
    assert [*found] == [label for _, label in page]
    for (_, label), said in page.items():
        assert same(said, found[label]), (label, said, found[label])


@each_variant
def test_another_number_is_refused(number, variant):
    """Twice, half, one more, the other sign, the other variant's."""
    found = dict(COMPUTED[number](given(number, variant), variant))
    for (_, label), said in written(number, variant).items():
        if isinstance(said, str):
            assert not same(f"{said} not", found[label])
            continue
        for other in (2 * said, said / 2, said + 1, -said):
            assert np.all(said == 0) or not same(other, found[label]), label


@each_variant
def test_a_mistake_is_not_the_answer(number, variant):
    """Whoever makes it has other numbers than whoever does not."""
    answers = {}
    for (head, label), said in written(number, variant).items():
        part = label[:3], number == 4 and "fourth" in label
        if head == "answer":
            answers.setdefault(part, []).append(said)
        elif not isinstance(said, str):
            assert not any(same(said, right) for right in answers[part]), label


def test_points_and_minutes_add_up():
    terms = {number: tuple(map(int, re.search(
        r"\*(\d+) points, (\d+) minutes; chapters? ", text).groups()))
        for number, text in QUESTIONS.items()}
    stated = {int(number): (int(points), int(minutes))
              for number, points, minutes in re.findall(
                  r"(?m)^\| (\d+) \| .* \| (\d+) \| (\d+) \|$", PAGE)}
    assert stated == terms and len(terms) == 10
    points, minutes = map(sum, zip(*terms.values(), strict=True))
    assert points == 60 and minutes + 4 == 90
    for number, text in QUESTIONS.items():
        parts = re.findall(r"(?ms)^- \(([a-f])\) .*?\((\d) points?\)$", text)
        if number == 10:                            # a list for each variant
            assert parts[:5] == parts[5:]
            parts = parts[:5]
        assert sum(int(points) for _, points in parts) == terms[number][0]
        marked = {}
        for label, *cells in rows(text, "answer"):
            marked[label[1]] = marked.get(label[1], 0) + float(cells[2])
        assert marked == {part: int(points) for part, points in parts}
