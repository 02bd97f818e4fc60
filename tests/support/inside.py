"""The models of "Look inside" with its switches, by PyTorch in float64, and
how far the page's engine is from them.

A part is taken away by an edit of chapter 13's or 19's own model: a head's
columns of W_O are zero, queries are sqrt(d_k) times as long, a norm is a gain.

    python -m tests.support.inside 200 [sum ...] [--engine firefox]

prints a table, of so many stories.
"""

import argparse
import base64
import copy
import math
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn

from course.paths import BOOK
from experiments import kite, kite_memories
from tests.support.engines import ENGINES

KINDS = "kite", "sum", "delta"
LAYERS, HEADS, PEOPLE = 2, 4, range(8)
FOLDER = BOOK / "_static" / "inside"
IDS = torch.tensor(kite.word_ids(kite.kite_stories(200, seed=99)))

# ------------------------------------------------------------------- switches

def everything(kind):
    """All switches, on."""
    on = {"positions": True, "shortcut": True, "norm": "pre",
          "heads": [[True] * HEADS for _ in range(LAYERS)],
          "ffn": [True] * LAYERS}
    return on | ({"mask": True, "divisor": True} if kind == "kite" else {})


def without(on, off):
    """The switches of heads, with some (block, head) off."""
    return on | {"heads": [[(b, i) not in off for i in range(HEADS)]
                           for b in range(LAYERS)]}


def settings(kind):
    """{what is taken away: switches}, each part alone."""
    on = everything(kind)
    found = {"nothing": on} | {
        name: on | {name: False}
        for name in ("mask", "positions", "divisor", "shortcut") if name in on}
    found |= {f"norm {how}": on | {"norm": how} for how in ("off", "folded")}
    every = [(b, i) for b in range(LAYERS) for i in range(HEADS)]
    for b, i in every:
        found[f"head {b + 1}.{i}"] = without(on, [(b, i)])
    for b, i in every:
        found[f"all heads but {b + 1}.{i + 1}"] = without(
            on, [head for head in every if head != (b, i)])
    for b in range(LAYERS):
        found[f"ffn {b + 1}"] = on | {"ffn": [c != b for c in range(LAYERS)]}
    return found


# ------------------------------------------------------------------ by PyTorch

class Gain(nn.Module):
    """A norm that is off."""

    def __init__(self, norm):
        super().__init__()
        self.weight = norm.weight

    def forward(self, X):
        return X * self.weight


def load(kind):
    """A kept model in float64, its numbers those of 16 bits."""
    model = kite.load() if kind == "kite" else kite_memories.load(kind)
    for layer in model.modules():
        if isinstance(layer, nn.RMSNorm):       # as where it was trained
            layer.eps = torch.finfo(torch.float32).eps
    return model.double().requires_grad_(False)


def turned(X, t):
    """Chapter 10's RoPE; the module of chapter 13 has angles in float32."""
    tables = kite.PARTS.rope_tables(t.numpy(), X.shape[-1], base=100.0)
    return torch.tensor(kite.PARTS.rope_half_split(X.numpy(), *tables))


def edited(model, switches):
    """A copy without the parts that are off; the shortcut is run's matter."""
    model = copy.deepcopy(model)
    for block, heads, ffn in zip(model.blocks, switches["heads"],
                                 switches["ffn"], strict=True):
        layer = block.attention
        layer.W_O.weight.unflatten(1, (HEADS, -1))[
            :, [not on for on in heads]] = 0
        block.ffn.down.weight *= ffn
        if hasattr(layer, "conv"):
            layer.conv.weight[..., :-1] *= switches["positions"]
            continue
        layer.rope.forward = (turned if switches["positions"]
                              else lambda X, t: X)
        layer.causal = switches["mask"]
        if not switches["divisor"]:
            layer.W_Q.weight *= math.sqrt(len(layer.W_Q.weight) / HEADS)
    if switches["norm"] == "off":
        model.norm = Gain(model.norm)
        for block in model.blocks:
            block.norm_1, block.norm_2 = Gain(block.norm_1), Gain(block.norm_2)
    return model


def looks(layer, X):
    """Where attention looks: (B, h, n, n)."""
    Q, K, _ = layer.heads(X)
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    if layer.causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    return scores.softmax(dim=-1)


def reads(layer, X, delta):
    """The weight of each value in what a memory gives back: (B, h, n, n).

    Solved at once: what is written is D = beta (V - tril(K K^T, -1) D).
    """
    kept, rule = [], layer.rule
    layer.rule = lambda *given: kept.extend(given) or rule(*given)
    layer(X)
    layer.rule = rule
    X, Q, K, V, _ = kept
    beta = layer.to_beta(X).sigmoid().mT
    A = torch.diag_embed(beta)
    if delta:
        A = torch.linalg.solve_triangular(
            (beta[..., None] * (K @ K.mT)).tril(-1), A, upper=False,
            unitriangular=True)
    A = (Q @ K.mT).tril() @ A
    torch.testing.assert_close(A @ V, rule(*kept)[0])
    return A


def by_head(layer, X):
    """What each head adds: h arrays (B, n, d_model)."""
    kept = []
    hook = layer.W_O.register_forward_pre_hook(
        lambda module, given: kept.append(given[0]))
    layer(X)
    hook.remove()
    return torch.einsum("bnhv,mhv->hbnm", kept[0].unflatten(-1, (HEADS, -1)),
                        layer.W_O.weight.unflatten(-1, (HEADS, -1)))


def contributions(found, model, ids, shortcut):
    """Of the parts, at each story's question, to the answer's logit minus the
    mean of the other names': (B, parts)."""
    B, t = torch.arange(len(ids)), ids.shape[1] - 4
    U = model.W_U.weight
    rivals = (U[PEOPLE].sum(dim=0) - U[ids[:, -3]]) / (len(PEOPLE) - 1)
    lean = model.norm.weight * (U[ids[:, -3]] - rivals)
    given = torch.einsum("bpm,bm,b->bp", found["parts"][:, :, t], lean,
                         found["factor"][:, t])
    if not shortcut:
        given[:, :-1] = 0
    logits = found["logits"][:, t]
    answer = logits[B, ids[:, -3]]
    others = (logits[:, PEOPLE].sum(dim=-1) - answer) / (len(PEOPLE) - 1)
    torch.testing.assert_close(given.sum(dim=-1), answer - others)
    return given


def run(kind, model, ids, switches):
    """ids (B, n) -> what the engine's run gives, each (B, ...)."""
    model = edited(model, switches)
    stream, parts, attention = [model.E[ids]], [model.E[ids]], []
    for block in model.blocks:
        X = block.norm_1(stream[-1])
        attention.append(looks(block.attention, X) if kind == "kite"
                         else reads(block.attention, X, kind == "delta"))
        parts += by_head(block.attention, X)
        for norm, part in ((block.norm_1, block.attention),
                           (block.norm_2, block.ffn)):
            Y = part(norm(stream[-1]))
            Y = Y[0] if isinstance(Y, tuple) else Y
            stream.append(stream[-1] + Y if switches["shortcut"] else Y)
        parts.append(Y)
    last, rms = stream[-1], [X.square().mean(-1).sqrt() for X in stream]
    logits = model.W_U(model.norm(last))
    found = {
        "logits": logits, "probabilities": logits.softmax(-1),
        "attention": torch.stack(attention, 1),
        "stream": torch.stack(stream, 1), "rms": torch.stack(rms, 1),
        "parts": torch.stack(parts, 1),
        "factor": torch.ones_like(rms[-1]) if switches["norm"] == "off"
        else (rms[-1]**2 + 1e-6).rsqrt()}
    found["contributions"] = contributions(found, model, ids,
                                           switches["shortcut"])
    return found


# --------------------------------------------------------------- in a browser

SOURCE = (FOLDER / "model.js").read_text("utf-8")
DATA = """scripts => {
    window.data = {}
    window.engines = {}                         // warm ones are faster
    for (const script of scripts)
        new Function("Inside", script)({
            register: (name, given) => { data[name] = given } }) }"""
RUN = """async ([source, name, stories, switches, arrays]) => {
    const engine = engines[source] ||= new Function(
        source + "; return Inside")()
    engine.register(name, data[name])
    let model
    engine.load(name, loaded => { model = loaded })
    const names = [], numbers = []
    const keep = x => typeof x[0] === "number"
        ? numbers.push(Float64Array.from(x)) : x.forEach(keep)
    for (const ids of stories) {
        const result = engine.run(model, ids,
            switches || engine.everything(model))
        const t = ids.length - 4, answer = ids[t + 1]
        const given = engine.contributions(model, result, t, answer,
            [0, 1, 2, 3, 4, 5, 6, 7].filter(id => id !== answer))
        const all = { ...result, parts: result.parts.map(part => part.out),
            contributions: given.map(part => part.value) }
        names.push(result.parts.map(part => part.name),
            given.map(part => part.name))
        for (const each of arrays) keep(all[each])
    }
    return [names, await new Promise(done => {
        const reader = new FileReader()
        reader.onload = () => done(reader.result.split(",")[1])
        reader.readAsDataURL(new Blob(numbers)) })] }"""
NAMES = ["the word itself", *(
    f"block {b}, {part}" for b in range(1, LAYERS + 1) for part in (
        *(f"head {i}" for i in range(HEADS)), "feed-forward"))]


def give_weights(tab):
    """To any page."""
    tab.evaluate(DATA, [(FOLDER / f"{kind}.js").read_text("utf-8")
                        for kind in KINDS])


def in_browser(tab, kind, ids, switches, like, source=SOURCE):
    """What `run` gives, by the engine; shapes are those of `like`."""
    rows = []
    for some in ids.split(20):              # messages have limits
        names, packed = tab.evaluate(
            RUN, [source, kind, some.tolist(), switches, [*like]])
        assert all(each == NAMES for each in names), names
        rows.append(np.frombuffer(base64.b64decode(packed)
                                  ).reshape(len(some), -1))
    rows = np.concatenate(rows)
    found, at = {}, 0
    for name, array in like.items():
        size = array[0].numel()
        found[name] = rows[:, at:at + size].reshape(array.shape)
        at += size
    assert at == rows.shape[1]
    return found


def compare(found, expected):
    """The greatest distance of each array, and which next words differ."""
    far = {name: np.abs(found[name] - array.numpy()).max()
           for name, array in expected.items()}
    other = (found["logits"].argmax(-1)
             != expected["logits"].numpy().argmax(-1)).sum()
    return SimpleNamespace(far=far, other_words=int(other))


def main(stories, kinds, engine):
    """Print the greatest distances, by what is off and model."""
    models = {kind: load(kind) for kind in kinds or KINDS}
    shown = "logits", "attention", "stream", "contributions"
    print("| off | model |", *(f"{name} |" for name in shown), "other words |")
    print("|---" * (len(shown) + 3) + "|")
    with ENGINES[engine]() as tab:
        give_weights(tab)
        for what in settings("kite"):
            for kind, model in models.items():
                if (switches := settings(kind).get(what)) is None:
                    continue
                every = run(kind, model, IDS[:stories], switches)
                expected = {name: every[name] for name in shown}
                same = compare(in_browser(tab, kind, IDS[:stories], switches,
                                          expected), expected)
                print(f"| {what} | {kind} |",
                      *(f"{far:.1e} |" for far in same.far.values()),
                      f"{same.other_words} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("stories", type=int)
    parser.add_argument("kinds", nargs="*", help=", ".join(KINDS))
    parser.add_argument("--engine", choices=ENGINES, default="chromium")
    main(**vars(parser.parse_args()))
