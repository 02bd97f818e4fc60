"""What do chunks buy, and where does a state overtake attention?

    python -m benchmarks.delta_rule

Float32, one thread, B = h = 4 and d_k = d_v = 64 for the delta rule, B = 1 for
linear attention. The functions are chapter 18's own. Every number is a ratio of
best times, taken in turns: what disturbs a machine only ever adds time. The
A/A column divides a method by itself, measured the same way: what strays from 1
there is noise. The loop by index is run once at 4096 tokens: its backward pass
takes a minute there. Nothing here is asserted: a time belongs to the machine it
was taken on.
"""

import tools.repeatable  # noqa: F401, I001  one thread, before torch loads

from time import perf_counter

import torch
from torch.nn import functional as F

from tests.chapters import functions

CHAPTER = functions("18")


def rule_by_products(Q, K, V, beta):
    """The fastest loop that we know: rows at once, and batched products."""
    *lead, n, d_v = V.shape
    Q, K, V = (X.flatten(0, -3)[..., None] for X in (Q, K, V))
    beta = beta.flatten(0, -2)[..., None, None]
    state, Y = V.new_zeros(len(V), d_v, K.shape[-2]), []
    for q, k, v, b in zip(Q.unbind(1), K.unbind(1), V.unbind(1),
                          beta.unbind(1), strict=True):
        d = b * torch.baddbmm(v, state, k, alpha=-1)
        state = torch.baddbmm(state, d, k.mT)
        Y.append(torch.bmm(state, q))
    return torch.stack(Y, dim=1).unflatten(0, lead)[..., 0], state


def linear_by_chunks(Q, K, V, chunk=64):
    """Causal linear attention, all chunks at once; n is a multiple of chunk."""
    V = torch.cat([V, torch.ones_like(V[..., :1])], dim=-1)     # z rides along
    Q, K, V = (X.unflatten(-2, (-1, chunk)) for X in (Q, K, V))
    states = (V.mT @ K).cumsum(dim=-3)              # after each chunk
    before = F.pad(states[..., :-1, :, :], (0, 0, 0, 0, 1, 0))
    Y = Q @ before.mT + (Q @ K.mT).tril() @ V
    return (Y[..., :-1] / Y[..., -1:]).flatten(-3, -2)


def seconds(run):
    """Seconds that one call of `run` takes."""
    start = perf_counter()
    run()
    return perf_counter() - start


def best(runs, repeats):
    """The best time of each of several calls, taken in turns."""
    for run in runs:
        run()                                       # warm
    rounds = [[seconds(run) for run in runs] for _ in range(repeats)]
    return [min(times) for times in zip(*rounds, strict=True)]


def forward(rule, inputs):
    """A call that only reads."""
    def run():
        with torch.no_grad():
            rule(*inputs)
    return run


def learn(rule, inputs):
    """A call that reads and goes back."""
    def run():
        output = rule(*inputs)
        (output[0] if isinstance(output, tuple) else output).sum().backward()
    return run


def delta_inputs(n, B=4, h=4, d=64):
    """Q, K (B, h, n, d) with rows of length 1, V as wide, beta (B, h, n)."""
    torch.manual_seed(0)
    Q, K, V = torch.randn(3, B, h, n, d)
    leaves = [F.normalize(Q, dim=-1), F.normalize(K, dim=-1), V.clone(),
              torch.rand(B, h, n)]
    return [leaf.requires_grad_() for leaf in leaves]


def delta_table():
    print(f"{'':8}{'forward: by':>24}{'':8}{'forward and backward: by':>26}")
    names = "".join(f"{name:>8}" for name in ("index", "rows", "best", "A/A"))
    print(f"{'tokens':>8}{names}{names}   times chunks of 64", flush=True)
    for n in (256, 1024, 4096):
        inputs, line = delta_inputs(n), f"{n:8}"
        for kind in (forward, learn):
            index, rows, loop, chunks, again = (kind(rule, inputs) for rule in (
                CHAPTER.delta_rule_by_index, CHAPTER.delta_rule_by_rows,
                rule_by_products, CHAPTER.delta_rule_chunkwise,
                CHAPTER.delta_rule_chunkwise))
            if kind is learn and n == 4096:
                slow = seconds(index)               # once: it is that slow
            else:
                [slow] = best([index], 2)
            by_rows, by_loop, base, same = best([rows, loop, chunks, again],
                                                5 if n < 4096 else 3)
            line += (f"{slow / base:8.1f}{by_rows / base:8.1f}"
                     f"{by_loop / base:8.1f}{same / base:8.2f}")
        print(line, flush=True)


def linear_table():
    print("\ntorch's causal attention over linear attention in chunks, B = 1")
    print(f"{'tokens':>8}{'forward':>9}{'A/A':>6}{'both':>9}{'A/A':>6}")
    for n in (128, 256, 512, 1024, 2048, 4096, 8192):
        Q, K, V, _ = delta_inputs(n, B=1)
        phi = [(F.elu(X.detach()) + 1).requires_grad_() for X in (Q, K)]
        line = f"{n:8}"
        for kind in (forward, learn):
            softmax = kind(lambda Q, K, V: F.scaled_dot_product_attention(
                Q, K, V, is_causal=True), (Q, K, V))
            linear = kind(linear_by_chunks, (*phi, V))
            slow, base, same = best([softmax, linear, linear], 9)
            line += f"{slow / base:9.2f}{same / base:6.2f}"
        print(line, flush=True)


def decode_table():
    print("\none new token: attention over its cache, by a step of the state")
    print(f"{'cache':>8}{'ratio':>8}{'A/A':>6}")
    q, k, v, beta = torch.randn(4, 1, 4, 64)
    state, often = torch.randn(1, 4, 64, 64), range(20)

    def step():
        with torch.no_grad():
            for _ in often:
                CHAPTER.delta_step(q, k, v, beta[..., :1], state)

    for m in (64, 256, 1024, 4096, 16_384):
        K, V = torch.randn(2, 1, 4, m, 64)
        look = forward(lambda Q, K, V: [
            F.scaled_dot_product_attention(Q, K, V) for _ in often],
            (q[..., None, :], K, V))
        slow, base, same = best([look, step, step], 15)
        print(f"{m:8}{slow / base:8.2f}{same / base:6.2f}", flush=True)


def memory_table():
    print("\nkept for the backward pass (MiB), four heads")
    rules = {"index": CHAPTER.delta_rule_by_index,
             "rows": CHAPTER.delta_rule_by_rows, "best": rule_by_products,
             "chunks": CHAPTER.delta_rule_chunkwise,
             "softmax": CHAPTER.softmax_rule,
             "linear": lambda Q, K, V, beta: linear_by_chunks(
                 F.elu(Q) + 1, F.elu(K) + 1, V)}
    print(f"{'tokens':>8}" + "".join(f"{name:>9}" for name in rules))
    for n in (256, 1024, 4096):
        print(f"{n:8}" + "".join(
            f"{CHAPTER.kept_for_backward(rule, n) / 2**20:9.1f}"
            for rule in rules.values()), flush=True)


def training_ratio():
    """A training step of the delta model over one of its twin, as in 09."""
    ids = torch.randint(65, (8, 129))
    calls = []
    for mixer in (CHAPTER.DeltaAttention, CHAPTER.SoftmaxAttention):
        model = CHAPTER.LanguageModel(mixer, 65)
        adam = torch.optim.Adam(model.parameters(), 1e-4, fused=True)

        def step(model=model, adam=adam):
            adam.zero_grad()
            CHAPTER.text_loss(model, ids).backward()
            adam.step()
        calls.append(step)
    delta, softmax, same = best([*calls, calls[1]], 25)
    print(f"\na training step, delta model over softmax twin: "
          f"{delta / softmax:.2f}   A/A {same / softmax:.2f}", flush=True)


def main():
    print(f"torch {torch.__version__}, {torch.get_num_threads()} thread(s)")
    training_ratio()
    decode_table()
    linear_table()
    memory_table()
    print()
    delta_table()


if __name__ == "__main__":
    main()
