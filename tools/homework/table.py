"""The exercises that have a variant: what changes, and the solution's edits.

asks     what is new: "formula" (it has to be derived anew), "order" (of axes
         or steps), or "number" (another one in a place that must be found)
one of   the numbers of a term are chosen from these lists
says     what the statement adds
edits    (a piece of the published solution, what stands there instead)
"""

TENTHS = [0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
SMALL = [2, 3, 4, 5, 6, 7, 8, 9]

TABLE = {
    "0.1": {
        "asks": "order",
        "one of": {"out": ["hbmn", "nbhm", "mhbn", "bnhm", "hmbn", "nhmb",
                           "mbnh", "hnmb", "bmnh", "nmhb", "mnbh", "hbnm"]},
        "says": "The result has the axes `{out}`, in this order.",
        "edits": [("bmhk->bhnm", "bmhk->{out}"),
                  ("(B, m, h, d_k) -> (B, h, n, m).",
                   "(B, m, h, d_k) -> {out}.")]},
    "0.4": {
        "asks": "formula",
        "one of": {"c": SMALL},
        "says": """The keys are those of another text, which has {c} times as
            many tokens: the scores are $X W^Q (X' W^K)^\\top$, with $X'$ of
            shape $({c} n, d)$. The second way is $X \\, (W^Q (W^K)^\\top) \\,
            X'^\\top$.""",
        "edits": [("2 * (2 * n * d * k) + 2 * n * n * k     # twice nd,dk;"
                   " nk,mk",
                   "2 * (1 + {c}) * n * d * k + 2 * {c} * n * n * k"),
                  ("2 * n * n * d                # nd,de; ne,me",
                   "2 * {c} * n * n * d")]},
    "1.1": {
        "asks": "number",
        "one of": {"c": SMALL},
        "says": """The format has another bias: $2^{{e-1}} - {c}$, where (1.2)
            has $2^{{e-1}} - 1$.""",
        "edits": [("2 ** (exponent_bits - 1) - 1",
                   "2 ** (exponent_bits - 1) - {c}")]},
    "1.2": {
        "asks": "formula",
        "one of": {"T": SMALL},
        "says": """The numbers have a temperature of {T}: the result is
            ${T} \\ln \\sum_j e^{{x_j / {T}}}$, and the slow specification is
            `{T} * np.log(np.sum(np.exp(X / {T}), axis=-1))`.""",
        "edits": [("return np.log(np.exp(X - top).sum(axis=-1))",
                   "return {T} * np.log(np.exp((X - top) / {T}).sum(axis=-1))"
                   )]},
    "2.3": {
        "asks": "formula",
        "one of": {"step": [2, 4, 8, 16, 32], "c": SMALL},
        "says": """In 2, the counter adds {step} each time, not 1. In 3 and 4,
            the product of condition number and $u$ is {c}, not 1.""",
        "edits": [("return [u, 1 / u,", "return [u, {step} / u,"),
                  ("math.sqrt((1 / u - 1) / 2),             # 1 + 2 r^2"
                   " = 1 / u", "math.sqrt(({c} / u - 1) / 2),"),
                  ("math.sqrt(1 / (4 * u**2) - 1),          # 4 (1 + r^2)"
                   " = 1 / u^2", "math.sqrt({c}**2 / (4 * u**2) - 1),")]},
    "2.4": {
        "asks": "number",
        "one of": {"c": [3, 5, 6, 7, 9, 11, 12, 13]},
        "says": """{c} such gradients will be added: no sum of {c} of them,
            each times the power, may become infinite in float16, even if all
            are as large as the largest. (Their sum is rounded once.)""",
        "edits": [("math.log2(65520 / np.abs",
                   "math.log2(65520 / {c} / np.abs")]},
    "3.1": {
        "asks": "formula",
        "one of": {"c": [3, 4, 5, 6, 7, 8], "p": [3, 4, 5, 6, 7, 8],
                   "m": [3, 4, 5, 6, 7]},
        "says": """In 2, the leaky ReLU multiplies negative numbers by
            $\\tfrac1{{{c}}}$. In 3, the dropout sets each number to 0 with
            probability $\\tfrac1{{{p}}}$ and multiplies the others by
            {m}.""",
        "edits": [("math.sqrt(2 / (1 + 0.1**2))             # 1 or 1/100",
                   "math.sqrt(2 / (1 + {c}**-2))"),
                  ("math.sqrt(1 / 2)                      # a half is"
                   " multiplied by 4",
                   "math.sqrt(1 / ({m}**2 * (1 - 1 / {p})))")]},
    "3.2": {
        "asks": "formula",
        "one of": {"a": [*TENTHS, 1.1, 1.2, 1.3]},
        "says": """The shortcut has a weight, and the matrices stand
            transposed: $x_\\ell = {a} \\, x_{{\\ell-1}} + c \\, x_{{\\ell-1}}
            W_\\ell^\\top$.""",
        "edits": [("dX = dX + c * dX @ W_l.T", "dX = {a} * dX + c * dX @ W_l")
                  ]},
    "4.2": {
        "asks": "formula",
        "one of": {"c": [3, 4, 5, 6, 7, 8, 9]},
        "says": """The norm divides by $\\sigma + \\varepsilon$, not by
            $\\sqrt{{\\sigma^2 + \\varepsilon}}$. Number 4 asks for the standard
            deviation $\\tfrac1{{{c}}}$.""",
        "edits": [("""
    root = (sigma**2 + eps) ** 0.5
    k = a * root / (a**2 * sigma**2 + eps) ** 0.5
""", """
    root = sigma + eps
    k = a * root / (abs(a) * sigma + eps)
"""), ("half = (eps / 3) ** 0.5 / sigma                 # 4 s^2 = s^2 + eps",
       "half = eps / ({c} - 1) / sigma"),
                  ("sqrt(a^2 sigma^2 + eps)", "(|a| sigma + eps)")]},
    "4.3": {
        "asks": "formula",
        "one of": {"p": [3, 4, 5, 6, 7, 8]},
        "says": """The size of the deviations is measured by their power {p}.
            A feature minus its mean is divided by $(\\text{{mean of }}
            |x - \\mu|^{{{p}}} + \\varepsilon)^{{1/{p}}}$; everything else is
            as before, and the slow specification does not hold.""",
        "edits": [("var = X.var(axis=-2, keepdims=True)  ",
                   "size = np.mean(abs(X - mean)**{p}, axis=-2,"
                   " keepdims=True)"),
                  ("np.sqrt(var + eps)", "(size + eps)**(1 / {p})")]},
    "5.2": {
        "asks": "formula",
        "one of": {"c": SMALL},
        "says": """The norm divides by $\\sqrt{{{c}\\,\\text{{mean of }} x^2 +
            \\varepsilon}}$.""",
        "edits": [("s = 1 / np.sqrt(np.mean(", "s = 1 / np.sqrt({c} * np.mean("
                   ), ("(u - X_hat *", "(u - {c} * X_hat *")]},
    "5.4": {
        "asks": "formula",
        "one of": {"c": [10, 20, 25, 40, 50, 200], "g": SMALL},
        "says": """After it is standardized, each group is multiplied by {g}.
            Number 5 asks for the factor $\\tfrac1{{{c}}}$ in place of
            $\\tfrac1{{100}}$; the factor {g} does not enter there.""",
        "edits": [("(low**2 + eps) ** -0.5, eps *",
                   "{g} * (low**2 + eps) ** -0.5, {g} * eps *"),
                  ("(99 * eps)", "(({c} - 1) * eps)")]},
    "6.1": {
        "asks": "formula",
        "one of": {"c": [0.5, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2]},
        "says": """The shortcut of each block has the weight {c}: the block is
            ${c}\\,x + f(\\text{{norm}}(x))$ for pre-norm, and the norm of
            ${c}\\,x + f(x)$ for post-norm.""",
        "edits": [("""
    for block in range(1, N + 1):
        post[:block + 1] /= 1 + a**2                # the norm of this block
    return pre / (1 + a**2 * N), post
""", """
    for block in range(1, N + 1):
        pre[:block] *= {c}**2
        post[:block] *= {c}**2
        post[:block + 1] /= {c}**2 + a**2
    return pre / pre.sum(), post
""")]},
    "6.4": {
        "asks": "formula",
        "one of": {"c": SMALL, "g": [*TENTHS]},
        "says": """A block has {c} such steps, each with a norm of its own, and
            each branch is multiplied by {g}: a step is $\\mathrm{{LN}}(\\beta x
            + {g} f(x))$. `N` counts the blocks.""",
        "edits": [("keep ** (1 / N)", "keep ** (1 / ({c} * N))"),
                  ("return a *", "return {g} * a *")]},
    "7.3": {
        "asks": "formula",
        "one of": {"c": SMALL, "e": [0.2, 0.3, 0.4, 0.5]},
        "says": """The model divides each logit by {c}; numbers 2 to 5 are about
            the logits after that. Number 4 asks for a difference of {e}.""",
        "edits": [("s = std * math.sqrt(d_model)",
                   "s = std * math.sqrt(d_model) / {c}"),
                  ("math.sqrt(2 * 0.1 / d_model),",
                   "{c} * math.sqrt(2 * {e} / d_model),"),
                  ("std * d_model)", "std * d_model / {c})")]},
    "7.4": {
        "asks": "number",
        "one of": {"b": [0.5, 0.6, 0.7, 0.8, 0.85, 0.95],
                   "q": [0.9, 0.95, 0.98, 0.99, 0.995]},
        "says": """$\\beta_1 = {b}$ and $\\beta_2 = {q}$, and the weight decay
            acts on the row after the step, not before it: the new row is $(1 -
            \\eta \\lambda)$ times the row that (7.6) gives without decay.""",
        "edits": [("m, v = 0.9 * m, 0.999 * v ", "m, v = {b} * m, {q} * v "),
                  ("m / (1 - 0.9**step), v / (1 - 0.999**step)",
                   "m / (1 - {b}**step), v / (1 - {q}**step)"),
                  ("(1 - lr * decay) * e - lr * mean / (np.sqrt(square) +"
                   " 1e-8)", "(1 - lr * decay) * (e - lr * mean / ("
                   "np.sqrt(square) + 1e-8))")]},
    "8.1": {
        "asks": "number",
        "one of": {"c": [3, 4, 5, 6], "n": [3, 4, 5, 6, 7]},
        "says": """In 3, the query is multiplied by {c}. In 4, key 0 is listed
            {n} times, with its value: the weight of these copies together.""",
        "edits": [("softmax(2 * s)[0], 2 * a[0] / (1 + a[0])",
                   "softmax({c} * s)[0], {n} * a[0] / (1 + ({n} - 1) * a[0])")
                  ]},
    "8.2": {
        "asks": "formula",
        "one of": {"c": [0.2, 0.3, 0.4, 0.5, 0.6]},
        "says": """The entries of the queries have the mean {c}, in 1 and in 2;
            those of the keys in 1 have the mean 0 as before. `s_q` stays their
            standard deviation. (Number 2 can be larger than 50.)""",
        "edits": [("own = math.sqrt(d_k) * s_q**2",
                   "square = s_q**2 + {c}**2\n"
                   "    own = math.sqrt(d_k) * square"),
                  ("return s_q * s_k *", "return math.sqrt(square) * s_k *")
                  ]},
    "8.3": {
        "asks": "formula",
        "one of": {"c": [*TENTHS, 1.5, 2.0]},
        "says": """The scores are $ {c} \\, Q K^\\top / \\sqrt{{d_k}}$.""",
        "edits": [("attention_weights(Q, K), math.sqrt(Q.shape[-1])",
                   "attention_weights({c} * Q, K), math.sqrt(Q.shape[-1])"
                   " / {c}")]},
    "9.1": {
        "asks": "formula",
        "one of": {"w": [1, 2, 3]},
        "says": """A token may attend to itself, to the {w} tokens before it,
            and to the first token of its text; all of them in its own
            text.""",
        "edits": [("return (text[:, None] == text) & (i[:, None] >= i)",
                   """first = np.append(True, text[1:] != text[:-1])
    near = (i[:, None] - i <= {w}) | first
    return (text[:, None] == text) & (i[:, None] >= i) & near""")]},
    "9.3": {
        "asks": "formula",
        "one of": {"r": SMALL},
        "says": """Each layer also lets a token read the {r} tokens after it.
            Numbers 1 and 2 are about the output of the *first* token: its
            receptive field, and the number of layers with which it includes
            the last token.""",
        "edits": [("field = min(n, N * (w - 1) + 1)",
                   "field = min(n, N * {r} + 1)"),
                  ("layers = -(-(n - 1) // (w - 1))  ",
                   "layers = -(-(n - 1) // {r})  "),
                  ("return field, layers, n * w - w * (w - 1) // 2",
                   """r = min({r}, n - 1)
    return (field, layers,
            n * w - w * (w - 1) // 2 + n * r - r * (r + 1) // 2)""")]},
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
    "11.2": {
        "asks": "order",
        "one of": {"out": ["hnd", "nhd", "hdn", "ndh", "dhn", "dnh"]},
        "says": """Head $i$ has every $h$-th feature, from feature $i$ on, and
            not a block: feature $k$ of head $i$ is `Y[..., t, k * h + i]`. With
            `h` for the heads, `n` for the tokens and `d` for the $d_k$
            features of a head, the last axes of the result are `{out}`, in
            this order.""",
        "edits": [("h, -1)", "-1, h)"),
                  ("return pieces.swapaxes(-3, -2)                  #"
                   " (..., h, n, d_k)",
                   'return np.einsum("...ndh->...{out}", pieces)'),
                  ("(..., n, h, d_k); reshape", "(..., n, d_k, h); reshape"),
                  ("-> (..., h, n, d_k). Raises",
                   "-> (..., {out}). Raises")]},
    "11.4": {
        "asks": "formula",
        "one of": {"c": [2, 3, 4, 5, 6, 7, 8]},
        "says": """{c} query heads share one matrix of keys, $W^K$: count {c}
            matrices $W^Q$ and one $W^K$. Number 2 is about each of the {c}
            products. In 3 and 4, all {c} products with $W^K$ keep their
            scores.""",
        "edits": [("stored = 2 * d_model * d_k",
                   "stored = ({c} + 1) * d_model * d_k")]},
    "12.1": {
        "asks": "formula",
        "one of": {"c": [3, 4, 5, 6, 7, 8, 10, 20]},
        "says": """The units have a leaky ReLU, which multiplies negative
            numbers by $\\tfrac1{{{c}}}$ and leaves the others unchanged; three
            of them compute the tent exactly.""",
        "edits": [("up, down = height / (b - a), -height / (c - b)  # the two"
                   " slopes",
                   """bend = 1 - 1 / {c}              # of a unit of weight 1
    up, down = height / (b - a) / bend, -height / (c - b) / bend""")]},
    "12.3": {
        "asks": "formula",
        "one of": {"c": [0.5, 0.6, 0.7, 0.8, 1.25, 1.5, 1.6, 1.75, 2]},
        "says": "The function is $x\\,\\Phi({c} x)$.",
        "edits": [("erf(X / math.sqrt(2))", "erf({c} * X / math.sqrt(2))"),
                  ("np.exp(-(X**2) / 2)", "np.exp(-(({c} * X)**2) / 2)"),
                  ("return share + X *", "return share + {c} * X *")]},
    "12.5": {
        "asks": "formula",
        "one of": {"r": [7, 10, 11, 13, 14], "s": [1, 2, 3, 4]},
        "says": """In 1, the width is at least $\\tfrac{{{r}}}{{3}}
            d_\\mathrm{{model}}$. The mixture has {s} more layers of the same
            width, which each token meets and no router chooses. (The numbers
            given for Llama do not hold.)""",
        "edits": [("-(-8 * d_model //", "-(-{r} * d_model //"),
                  ("n_experts * layer + router,",
                   "(n_experts + {s}) * layer + router,"),
                  ("2 * (k * layer + router)",
                   "2 * ((k + {s}) * layer + router)")]},
    "13.3": {
        "asks": "formula",
        "one of": {"e": [2, 4, 8, 16, 32, 64]},
        "says": """Each block has {e} experts in place of its SwiGLU, each of
            width $d_\\mathrm{{ff}}$, and a router without bias. Queries and
            keys are normalized by RMSNorm before their product; all query
            heads of a block share a gain, and all key heads another. (The
            number given for Llama 2 does not hold.)""",
        "edits": [("attention + 3 * d_model * d_ff + 2 * d_model",
                   "attention + {e} * (3 * d_model * d_ff + d_model)\n"
                   "    layer += 2 * d_k + 2 * d_model")]},
    "13.4": {
        "asks": "formula",
        "one of": {"c": [2, 3, 4], "b": SMALL},
        "says": """{b} sequences of $n$ tokens each are in a step. The forward
            pass of each block is computed {c} times, to save memory; the
            backward pass once.""",
        "edits": [("return (6 * n_layers * matrices * n,",
                   "return ({b} * 2 * ({c} + 2) * n_layers * matrices * n,"),
                  ("12 * n_layers * d_model * n * n,",
                   "{b} * 4 * ({c} + 2) * n_layers * d_model * n * n,"),
                  ("6 * n_layers * d_model * n * (n + 1),",
                   "{b} * 2 * ({c} + 2) * n_layers * d_model * n * (n + 1),")
                  ]},
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
    "15.1": {
        "asks": "formula",
        "one of": {"k": [1, 4], "v": [2, 8]},
        "says": """Each number of a key has {k} bytes in the cache, each of a
            value {v}. Number 3 may be a fraction. Number 4 stays: one key
            head, one byte for each number.""",
        "edits": [("token = 2 * n_layers * h_kv * d_k * 2           # (15.2)"
                   " with n = 1, b = 2",
                   "token = n_layers * h_kv * d_k * ({k} + {v})"),
                  ("h // h_kv,", "4 * h / h_kv / ({k} + {v}),")]},
    "15.4": {
        "asks": "formula",
        "one of": {"b": [2, 3, 5, 10]},
        "says": """Each `lse`, those given and the one returned, is a logarithm
            to the base {b}: $\\log_{{{b}}} \\sum_j e^{{s_j}}$.""",
        "edits": [("lse = np.logaddexp(lse_1, lse_2)                #"
                   " (..., n)",
                   """base = math.log({b})
    lse_1, lse_2 = base * lse_1, base * lse_2
    lse = np.logaddexp(lse_1, lse_2)"""),
                  ("* Y_2, lse", "* Y_2, lse / base")]},
    "16.1": {
        "asks": "formula",
        "one of": {"w": [2, 3, 4]},
        "says": """A token reads itself and the tokens just before it, {w} in
            all; at the beginning of a text, those that are there. A running
            sum need not be how.""",
        "edits": [("as a running sum over all outer products.",
                   "over a window of {w} tokens."),
                  ("states, z = pairs.cumsum(axis=-3), phi_K.cumsum(axis=-2)",
                   """i = np.arange(V.shape[-2])
    near = np.tril(i[:, None] - i < {w}) * 1.0       # (n, n)
    states = np.einsum("nm,...mvk->...nvk", near, pairs)
    z = near @ phi_K""")]},
    "16.4": {
        "asks": "formula",
        "one of": {"m": SMALL},
        "says": """{m} equal keys are added, not one, and `share` is what they
            get together.""",
        "edits": [("* z.max()  ", "* z.max() / {m}  ")]},
    "17.2": {
        "asks": "formula",
        "one of": {"c": [0.5, 0.6, 0.7, 0.8, 1.1], "g": [*TENTHS]},
        "says": """Each key is scaled to length {c}. Before each write, the
            state is multiplied by {g}; the delta rule reads and corrects what
            is then left.""",
        "edits": [("K = K / np.linalg.norm(", "K = {c} * K / np.linalg.norm("),
                  ("write_delta(state, K", "write_delta({g} * state, K")]},
    "17.3": {
        "asks": "formula",
        "one of": {"g": [*TENTHS]},
        "says": """The state forgets before it is corrected: $F' = {g} F +
            \\beta\\,(v - {g} F k)\\,k^\\top$.""",
        "edits": [("error = v - np.einsum(", "error = v - {g} * np.einsum("),
                  ("d_state = G - b[..., None] * G_k[..., None] *"
                   " k[..., None, :]",
                   "d_state = {g} * (G - b[..., None] * G_k[..., None]"
                   " * k[..., None, :])"),
                  ("- np.einsum(\"...vk,...v->...k\", state, G_k)",
                   "- {g} * np.einsum(\"...vk,...v->...k\", state, G_k)")]},
    "17.5": {
        "asks": "formula",
        "one of": {"c": SMALL},
        "says": """The values are {c} times as long: a value has one {c} and
            else zeros.""",
        "edits": [("return (1 - 1 / m) / 2, (1 - D / n) / 2,"
                   " n * (1 - 2 * loss)",
                   "return (\n        {c}**2 * (1 - 1 / m) / 2,"
                   " {c}**2 * (1 - D / n) / 2,\n"
                   "        n * (1 - 2 * loss / {c}**2))")]},
    "18.1": {
        "asks": "formula",
        "one of": {"g": [*TENTHS]},
        "says": """Earlier tokens fade: in each step, what is left of all
            earlier tokens is multiplied by {g}. Token $j$ enters numerator and
            denominator of token $t \\ge j$ with the factor ${g}^{{t-j}}$.""",
        "edits": [("near = np.tril(q @ np.swapaxes(k, -1, -2))",
                   """i = np.arange(q.shape[-2])
        fade = np.tril({g} ** np.abs(i[:, None] - i))
        near = fade * (q @ np.swapaxes(k, -1, -2))
        since = {g} ** (i[:, None] + 1)             # the chunk's beginning"""
                   ),
                  ("Y.append(q @ np.swapaxes", "Y.append(since * q @"
                   " np.swapaxes"),
                  ("state = state + np.swapaxes(v, -1, -2) @ k",
                   "left = {g} ** (len(i) - 1 - i[:, None])\n"
                   "        state = {g} ** len(i) * state\n"
                   "        state = state + np.swapaxes(left * v, -1, -2)"
                   " @ k")]},
    "18.2": {
        "asks": "formula",
        "one of": {"c": [2, 3, 4, 5, 8]},
        "says": """Find the inverse of ${c} I + A$. The inverse of one row is
            $\\tfrac1{c}$, and $L_1$ and $L_2$ have {c} on their diagonals.""",
        "edits": [("inverse = A + np.eye(A.shape[-1])               # its"
                   " blocks follow",
                   "inverse = A + np.eye(A.shape[-1]) / {c}"),
                  ("inverse of I + A by", "inverse of {c} I + A by")]},
    "19.1": {
        "asks": "order",
        "one of": {"c": [0.5, 0.6, 0.7, 1.5, 1.6, 1.75, 2]},
        "says": """A head's $\\beta$ is {c} times this sigmoid. The layer reads
            before it writes: the output comes from the state that was
            given.""",
        "edits": [("state = write_delta(state, k, v, sigmoid(x",
                   "after = write_delta(state, k, v, {c} * sigmoid(x"),
                  ("W_O), state", "W_O), after")]},
    "19.3": {
        "asks": "order",
        "one of": {"c": [2, 3, 4, 5, 0.5, -1]},
        "says": """The *first* row of `W` belongs to the token itself, the next
            one to the token before, and so on. A shortcut adds {c} times `Z`
            to the outputs.""",
        "edits": [("Y = sum(W[i] *", "Y = sum(W[-1 - i] *"),
                  ("return Y, Z[..., n:, :]",
                   "return Y + {c} * Z[..., width - 1:, :], Z[..., n:, :]")]},
    "20.2": {
        "asks": "formula",
        "one of": {"c": [2, 4, 8, 16, 32, 64]},
        "says": """To stay in range, each machine has divided its features by
            {c} before it multiplied and squared them. The result is that of
            the features as they were, with their `eps`.""",
        "edits": [("rms = np.sqrt(squares.sum(axis=0) / d_in + eps)     #"
                   " (n,)",
                   "rms = np.sqrt({c}**2 * squares.sum(axis=0) / d_in + eps)"),
                  ("return products", "return {c} * products")]},
    "20.3": {
        "asks": "formula",
        "one of": {"c": SMALL},
        "says": """The scores (20.6) are divided by ${c} \\sqrt{{d_k}}$ in place
            of $\\sqrt{{d_k}}$.""",
        "edits": [("d_k**-0.25 /", "({c} * d_k**0.5) ** -0.5 /")]},
    "21.4": {
        "asks": "formula",
        "one of": {"m": [3, 5, 6, 7, 9, 10]},
        "says": """{m} such products, each with a column of this length, are
            added before the sum is multiplied and stored: the sum is what must
            be at most `largest`.""",
        "edits": [("* column  ", "* column * {m}  ")]},
    "21.5": {
        "asks": "number",
        "one of": {"L": [7, 15, 31, 63]},
        "says": """A token has fewer steps: its own step is its largest
            absolute value, divided by {L}.""",
        "edits": [("keepdims=True) / 127   #", "keepdims=True) / {L}   #")]},
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
