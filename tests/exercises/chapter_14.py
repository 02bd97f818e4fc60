"""Answers to the exercises of chapter 14: the lines between the solution marks.

RIGHT   exercise, how it is written, body
WRONG   exercise, the mistake, words that the check must print, body
HIDDEN  exercise, the mistake, words that only the grade says, body
DOMAIN  exercise: a function that draws arguments as its statement allows them
PRECISE exercise: the students' kinds (battery.py) that it refuses, and why
VARIANTS exercise: what a homework sheet changes (tools/homework/variants.py)
"""

import numpy as np


def draw_14_1(rng):
    B, n, n_vocab = rng.permutation(range(2, 10))[:3]
    B = rng.choice([1, B])
    logits = 10 ** rng.uniform(-4, 3.2) * rng.normal(size=(B, n, n_vocab))
    first, last = np.sort(rng.integers(n + 1, size=(B, 2))).T[..., None]
    first[0], last[0] = 0, n
    real = (np.arange(n) >= first) & (np.arange(n) < last)
    return logits, rng.integers(n_vocab, size=(B, n)), real


def draw_14_2(rng):
    shapes = [tuple(rng.integers(1, 6, size=rng.integers(1, 4)).tolist())
              for _ in range(3)]
    size = 10 ** rng.uniform(-5, 4)
    return ([size * rng.normal(size=shape) for shape in shapes],
            float(10 ** rng.uniform(-3, 3)))


def draw_14_3(rng):
    w, g = rng.normal(size=2) * 10 ** rng.uniform(-4, 4, size=2)
    lr, decay = 10 ** rng.uniform(-4, 0, size=2)
    return float(w), float(g), float(lr), float(decay)


def draw_14_4(rng):
    noise, believed = rng.uniform(0.001, 1, size=2)
    return int(rng.integers(2, 80)), float(noise), float(believed)


def draw_14_5(rng):
    B = int(rng.integers(1, 12))
    counts = rng.integers(1, 90, size=B)
    losses = rng.uniform(0, 10 ** rng.uniform(-2, 1.7), size=B)
    return losses, counts, int(counts.sum() * rng.uniform(1, 6))


DOMAIN = {"14.1": draw_14_1, "14.2": draw_14_2, "14.3": draw_14_3,
          "14.4": draw_14_4, "14.5": draw_14_5}
PRECISE = {}

LOSS = """
log_p = log_softmax(logits[:, :-1])
targets = ids[:, 1:, None]
losses = -np.take_along_axis(log_p, targets, axis=-1)[..., 0]
return losses[real[:, 1:]].mean()
"""
CLIP = """
norm = math.sqrt(sum(np.sum(g**2) for g in gradients))
factor = most / norm if norm > most else 1
return [factor * g for g in gradients], norm
"""
FIRST = """
adamw = (1 - lr * decay) * w - lr * np.sign(g)
penalty = w - lr * np.sign(g + decay * w)
return adamw, penalty
"""
STREAM = """
q_0 = noise / n_vocab
q_1 = 1 - noise + q_0
p_0 = believed / n_vocab
p_1 = 1 - believed + p_0
others = n_vocab - 1
best = -q_1 * math.log(q_1) - others * q_0 * math.log(q_0)
wrong = -q_1 * math.log(p_1) - others * q_0 * math.log(p_0)
return best, math.log(n_vocab), wrong
"""
PERPLEXITY = """
total = np.sum(losses * counts)
bits = total / (math.log(2) * n_characters)
return np.exp(total / np.sum(counts)), bits
"""

RIGHT = [
    ("14.1", "by loops", """
total, n = 0.0, 0
for b in range(ids.shape[0]):
    for t in range(ids.shape[1] - 1):
        if real[b, t + 1]:
            row = logits[b, t] - logits[b, t].max()
            total += np.log(np.exp(row).sum()) - row[ids[b, t + 1]]
            n += 1
return total / n
"""),
    ("14.1", "by torch, padding as -100", """
targets = torch.tensor(np.where(real, ids, -100)[:, 1:])
return F.cross_entropy(torch.tensor(logits[:, :-1]).mT, targets).item()
"""),
    ("14.1", "weights instead of an index", """
log_p = log_softmax(logits[:, :-1])
one_hot = np.eye(logits.shape[-1])[ids[:, 1:]]
count = real[:, 1:]
return -(log_p * one_hot).sum(-1).ravel() @ count.ravel() / count.sum()
"""),
    ("14.2", "one flat array", """
norm = np.linalg.norm(np.concatenate([g.ravel() for g in gradients]))
return [g * most / max(norm, most) for g in gradients], norm
"""),
    ("14.2", "by torch", """
flat = [torch.tensor(g).flatten() for g in gradients]
norm = torch.cat(flat).norm().item()
if norm > most:
    flat = [part / norm * most for part in flat]
return [part.reshape(g.shape).numpy()
        for part, g in zip(flat, gradients)], norm
"""),
    ("14.3", "step by step", """
m, v = 0.1 * g, 0.001 * g**2
one = (1 - lr * decay) * w - lr * (m / 0.1) / np.sqrt(v / 0.001)
g = g + decay * w
return one, w - lr * g / abs(g)
"""),
    ("14.3", "with a branch", """
decayed = w * (1 - decay * lr)
step_1 = lr if g > 0 else -lr
step_2 = lr if g + w * decay > 0 else -lr
return decayed - step_1, w - step_2
"""),
    ("14.4", "by a loop", """
def cost(true, used):
    total = 0
    for digit in range(n_vocab):
        sure = digit == 0
        q = true / n_vocab + sure * (1 - true)
        p = used / n_vocab + sure * (1 - used)
        total -= q * math.log(p)
    return total
return cost(noise, noise), cost(1, 1), cost(noise, believed)
"""),
    ("14.4", "by arrays", """
q = np.full(n_vocab, noise / n_vocab)
p = np.full(n_vocab, believed / n_vocab)
q[0] += 1 - noise
p[0] += 1 - believed
return -q @ np.log(q), np.log(n_vocab), -q @ np.log(p)
"""),
    ("14.5", "target by target", """
each = np.repeat(losses, counts)
return math.exp(each.mean()), each.sum() / math.log(2) / n_characters
"""),
    ("14.5", "by weights", """
mean = np.average(losses, weights=counts)
return np.exp(mean), mean * np.sum(counts) / n_characters / np.log(2)
"""),
]

WRONG = [
    ("14.1", "not begun", "14.1 not done yet", "raise NotImplementedError"),
    ("14.1", "nothing returned", "return its result",
     LOSS.replace("return ", "")),
    ("14.1", "a loss per token", "one number", LOSS.replace(".mean()", "")),
    ("14.1", "no minus", "minus sign", LOSS.replace("= -np", "= np")),
    ("14.1", "bits instead of nats", "in nats",
     LOSS.replace("].mean()", "].mean() / math.log(2)")),
    ("14.1", "a sum", "mean loss", LOSS.replace("].mean()", "].sum()")),
    ("14.1", "targets not shifted", "at t + 1", """
log_p = log_softmax(logits)
losses = -np.take_along_axis(log_p, ids[..., None], axis=-1)[..., 0]
return losses[real].mean()
"""),
    ("14.1", "shifted the wrong way", "at t + 1", """
log_p = log_softmax(logits[:, 1:])
losses = -np.take_along_axis(log_p, ids[:, :-1, None], axis=-1)[..., 0]
return losses[real[:, 1:]].mean()
"""),
    ("14.1", "softmax over the positions", "ln 5",
     LOSS.replace("log_softmax(logits[:, :-1])",
                  "log_softmax(logits[:, :-1].swapaxes(1, 2)).swapaxes(1, 2)")),
    ("14.1", "padding counts", "does padding count",
     LOSS.replace("losses[real[:, 1:]]", "losses")),
    ("14.1", "the mask of the inputs", "does padding count",
     LOSS.replace("real[:, 1:]", "real[:, :-1]")),
    ("14.1", "padding counts as 0", "over all predictions of text",
     LOSS.replace("losses[real[:, 1:]]", "(losses * real[:, 1:])")),
    ("14.1", "a mean of means", "each counted once", """
log_p = log_softmax(logits[:, :-1])
losses = -np.take_along_axis(log_p, ids[:, 1:, None], axis=-1)[..., 0]
count = real[:, 1:]
return ((losses * count).sum(axis=1) / count.sum(axis=1)).mean()
"""),
    ("14.1", "the logarithm of the mean share", "mean of the losses", """
p = np.take_along_axis(softmax(logits[:, :-1]), ids[:, 1:, None], axis=-1)
return -np.log(p[..., 0][real[:, 1:]].mean())
"""),
    ("14.1", "the last targets wrap around", "at t + 1", """
log_p, targets = log_softmax(logits), np.roll(ids, -1, axis=1)
losses = -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
return losses[np.roll(real, -1, axis=1)].mean()
"""),
    ("14.1", "from probabilities", "logits of 1000", """
p = softmax(logits[:, :-1])
p = np.take_along_axis(p, ids[:, 1:, None], axis=-1)[..., 0]
return -np.log(p + 1e-12)[real[:, 1:]].mean()
"""),
    ("14.1", "padding marked in ids", "stay as they were", """
ids[~real] = -100
return F.cross_entropy(torch.tensor(logits[:, :-1]).mT,
                       torch.tensor(ids[:, 1:])).item()
"""),
    ("14.1", "logits shifted in place", "stay as they were", """
logits -= logits.max(axis=-1, keepdims=True)
""" + LOSS),
    ("14.2", "not begun", "14.2 not done yet", "raise NotImplementedError"),
    ("14.2", "nothing returned", "return its result",
     CLIP.replace("return ", "")),
    ("14.2", "the arrays alone", "a pair",
     CLIP.replace(", norm", "")),
    ("14.2", "in place", "stay as they were", """
norm = math.sqrt(sum(np.sum(g**2) for g in gradients))
if norm > most:
    for g in gradients:
        g *= most / norm
return gradients, norm
"""),
    ("14.2", "the norm afterwards", "before clipping",
     CLIP.replace("], norm", "], min(norm, most)")),
    ("14.2", "no root", "root of the sum", CLIP.replace("math.sqrt", "")),
    ("14.2", "the largest number", "by squares", CLIP.replace(
        "math.sqrt(sum(np.sum(g**2) for g in gradients))",
        "max(abs(g).max() for g in gradients)")),
    ("14.2", "a sum of norms", "by squares", CLIP.replace(
        "math.sqrt(sum(np.sum(g**2) for g in gradients))",
        "sum(np.linalg.norm(g) for g in gradients)")),
    ("14.2", "a mean square", "is their norm 5",
     CLIP.replace("sum(np.sum(g**2) for g in gradients)",
                  "sum(np.mean(g**2) for g in gradients)")),
    ("14.2", "each array by its own norm", "one factor", """
norm = math.sqrt(sum(np.sum(g**2) for g in gradients))
return [g * min(1, most / np.linalg.norm(g)) if g.any() else g
        for g in gradients], norm
"""),
    ("14.2", "each number", "not each number", """
norm = math.sqrt(sum(np.sum(g**2) for g in gradients))
return [np.clip(g, -most, most) for g in gradients], norm
"""),
    ("14.2", "enlarged, too", "do the gradients stay",
     CLIP.replace(" if norm > most else 1", "")),
    ("14.2", "divided by the norm alone", "norm `most`",
     CLIP.replace("most / norm if", "1 / norm if")),
    ("14.2", "flat arrays", "in its shape",
     CLIP.replace("factor * g for", "factor * g.ravel() for")),
    ("14.2", "0 over 0", "without a division", """
norm = math.sqrt(sum(np.sum(g**2) for g in gradients))
return [g / norm * min(norm, most) for g in gradients], norm
"""),
    ("14.2", "one array alone", "in its shape",
     CLIP.replace("in gradients], norm", "in gradients[:1]], norm")),
    ("14.3", "not begun", "14.3 not done yet", "raise NotImplementedError"),
    ("14.3", "nothing returned", "return its result",
     FIRST.replace("return ", "")),
    ("14.3", "one number", "two numbers",
     FIRST.replace("adamw, penalty", "adamw")),
    ("14.3", "no decay", "where is the decay",
     FIRST.replace("(1 - lr * decay) * w", "w")),
    ("14.3", "decay without the rate", "by the learning rate",
     FIRST.replace("(1 - lr * decay)", "(1 - decay)")),
    ("14.3", "the gradient itself", "or its sign",
     FIRST.replace("lr * np.sign(g)", "lr * g")),
    ("14.3", "along the gradient", "or along it",
     FIRST.replace("w - lr * np.sign(g)", "w + lr * np.sign(g)")),
    ("14.3", "means without their divisors", "which quotient",
     FIRST.replace("lr * np.sign(g)\n",
                   "lr * 0.1 * g / np.sqrt(0.001 * g**2)\n")),
    ("14.3", "the penalty as decay", "enters the quotient",
     FIRST.replace("return adamw, penalty", "return adamw, adamw")),
    ("14.3", "no penalty", "turn the sign",
     FIRST.replace("g + decay * w", "g")),
    ("14.3", "a step of gradient descent", "divide by the size",
     FIRST.replace("np.sign(g + decay * w)", "(g + decay * w)")),
    ("14.3", "the penalty with a minus", "the sign of w",
     FIRST.replace("g + decay * w", "g - decay * w")),
    ("14.3", "both", "enters the quotient",
     FIRST.replace("penalty = w", "penalty = (1 - lr * decay) * w")),
    ("14.4", "not begun", "14.4 not done yet", "raise NotImplementedError"),
    ("14.4", "nothing returned", "return its result",
     STREAM.replace("return ", "")),
    ("14.4", "two numbers", "three numbers",
     STREAM.replace(", wrong", "")),
    ("14.4", "noise never hits the sum", "by chance",
     STREAM.replace("noise / n_vocab", "noise / (n_vocab - 1)").replace(
         "1 - noise + q_0", "1 - noise")),
    ("14.4", "the sum alone", "what do the digits cost", STREAM.replace(
        " - others * q_0 * math.log(q_0)", "")),
    ("14.4", "one other digit", "how many digits", STREAM.replace(
        "others * q_0 * math.log(q_0)", "q_0 * math.log(q_0)")),
    ("14.4", "bits", "in nats",
     STREAM.replace("return best", "return best / math.log(2)")),
    ("14.4", "another noise", "the entropy of", STREAM.replace(
        "q_0 = noise / n_vocab", "q_0 = noise / 2 / n_vocab")),
    ("14.4", "half of the rule", "which digits can the sum be",
     STREAM.replace("math.log(n_vocab), wrong", "best, wrong")),
    ("14.4", "the mean of both", "how likely is each sum", STREAM.replace(
        "math.log(n_vocab), wrong", "(math.log(n_vocab) + best) / 2, wrong")),
    ("14.4", "roles swapped", "which probabilities weight", STREAM.replace(
        "-q_1 * math.log(p_1) - others * q_0 * math.log(p_0)",
        "-p_1 * math.log(q_1) - others * p_0 * math.log(q_0)")),
    ("14.4", "the entropy of the belief", "as often as", STREAM.replace(
        "-q_1 * math.log(p_1) - others * q_0 * math.log(p_0)",
        "-p_1 * math.log(p_1) - others * p_0 * math.log(p_0)")),
    ("14.4", "the difference", "believed logarithms",
     STREAM.replace("return best, math.log(n_vocab), wrong",
                    "return best, math.log(n_vocab), wrong - best")),
    ("14.5", "not begun", "14.5 not done yet", "raise NotImplementedError"),
    ("14.5", "nothing returned", "return its result",
     PERPLEXITY.replace("return ", "")),
    ("14.5", "one number", "two numbers",
     PERPLEXITY.replace(", bits", "")),
    ("14.5", "losses changed", "stay as they were", """
losses *= counts
total = losses.sum()
return (np.exp(total / counts.sum()),
        total / (math.log(2) * n_characters))
"""),
    ("14.5", "a mean of means", "count as one", PERPLEXITY.replace(
        "np.exp(total / np.sum(counts))", "np.exp(losses.mean())")),
    ("14.5", "a mean of perplexities", "mean of exponentials",
     PERPLEXITY.replace("np.exp(total / np.sum(counts))",
                        "np.exp(losses).mean()")),
    ("14.5", "a weighted mean of perplexities", "mean of exponentials",
     PERPLEXITY.replace("np.exp(total / np.sum(counts))",
                        "np.average(np.exp(losses), weights=counts)")),
    ("14.5", "the mean loss", "and the perplexity", PERPLEXITY.replace(
        "np.exp(total / np.sum(counts))", "total / np.sum(counts)")),
    ("14.5", "base 2", "of which base", PERPLEXITY.replace(
        "np.exp(total / np.sum(counts))", "2 ** (total / np.sum(counts))")),
    ("14.5", "per character", "by how many targets", PERPLEXITY.replace(
        "np.exp(total / np.sum(counts))", "np.exp(total / n_characters)")),
    ("14.5", "another mean", "mean loss of all targets", PERPLEXITY.replace(
        "np.exp(total / np.sum(counts))",
        "np.exp(total / (np.sum(counts) - 1))")),
    ("14.5", "nats per character", "not in nats",
     PERPLEXITY.replace("(math.log(2) * n_characters)", "n_characters")),
    ("14.5", "multiplied by ln 2", "or divided by it", PERPLEXITY.replace(
        "total / (math.log(2) * n_characters)",
        "total * math.log(2) / n_characters")),
    ("14.5", "bits per token", "not by the targets", PERPLEXITY.replace(
        "(math.log(2) * n_characters)", "(math.log(2) * np.sum(counts))")),
    ("14.5", "a sum of means", "sum over all targets", PERPLEXITY.replace(
        "bits = total", "bits = np.sum(losses)")),
    ("14.5", "another base", "the total loss in bits", PERPLEXITY.replace(
        "math.log(2) *", "math.log(10) *")),
]

HIDDEN = [
    ("14.1", "the first token always counts", "in front of", """
text = real.copy()
text[:, 1] = True
""" + LOSS.replace("real", "text")),
    ("14.1", "the padding is cut off by its length", "in front of the text", """
terms = []
for row, text, length in zip(logits, ids, real.sum(axis=1)):
    terms.extend(-log_softmax(row)[t, text[t + 1]] for t in range(length - 1))
return np.mean(terms)
"""),
    ("14.2", "a small constant under the division", "is it right",
     CLIP.replace("most / norm if", "most / (norm + 1e-6) if")),
    ("14.3", "an epsilon", "is it right",
     FIRST.replace("np.sign(g)\n", "g / (abs(g) + 1e-8)\n")),
    ("14.4", "a small constant under the logarithm", "are all three right",
     STREAM.replace("math.log(q_0)", "math.log(q_0 + 1e-9)")),
    ("14.5", "small losses dropped", "is it right",
     PERPLEXITY.replace("losses * counts",
                        "losses * counts * (losses > 0.01)")),
]

VARIANTS = {
    "14.1": {
        "asks": "formula",
        "one of": {"s": [0.05, 0.1, 0.15, 0.2, 0.25, 0.3]},
        "says": """The targets are smoothed: the loss of a prediction is
            $(1 - {s})$ times its cross-entropy, plus ${s}$ times the mean of
            $-\\ln p$ over all tokens of the vocabulary.""",
        "edits": [("losses = -np.take_along_axis(log_p, targets, axis=-1)",
                   """right = np.take_along_axis(log_p, targets, axis=-1)
    losses = -(1 - {s}) * right - {s} * log_p.mean(axis=-1, keepdims=True)"""
                   )]},
    "14.2": {
        "asks": "formula",
        "one of": {"p": [1, 3, 4]},
        "says": """The norm of all gradients together is $(\\sum |g|^{p})
            ^{{1/{p}}}$, over all their numbers.""",
        "edits": [("math.sqrt(sum(np.sum(g**2) for g in gradients))",
                   "sum(np.sum(abs(g)**{p}) for g in gradients)**(1 / {p})")
                  ]},
    "14.3": {
        "asks": "formula",
        "one of": {"b": [0.5, 0.6, 0.7, 0.8, 0.9],
                   "q": [0.95, 0.98, 0.995, 0.999]},
        "says": """The means are not corrected: the step uses $m$ and $v$ as
            they are, with $\\beta_1 = {b}$ and $\\beta_2 = {q}$.""",
        "edits": [("adamw = (1 - lr * decay) * w - lr * np.sign(g)",
                   """step = lr * (1 - {b}) / (1 - {q})**0.5
    adamw = (1 - lr * decay) * w - step * np.sign(g)"""),
                  ("w - lr * np.sign(g + decay * w)",
                   "w - step * np.sign(g + decay * w)")]},
}
