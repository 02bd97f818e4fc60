// The engine of "Look inside": the kite models of chapters 13, 14 and 19, with
// switches. Functions have the names that the chapters give them. A token is a
// row; a matrix of PyTorch, (d_out, d_in), is one Float64Array, row by row.
const Inside = (() => {
  const EPS = 1e-6                      // of the norms of the stream
  const MEMORY_EPS = 2 ** -23           // of a memory's own: float32's
  const BASE = 100, WIDTH = 4           // of RoPE; of the short convolution
  const HERE = document.currentScript?.src

  // Rows, and matrices
  const dot = (a, b) => {
    let sum = 0
    for (let i = 0; i < a.length; i++) sum += a[i] * b[i]
    return sum
  }
  const times = (a, b) => a.map((x, i) => x * b[i])
  const scaled = (a, factor) => a.map(x => x * factor)
  const plus = (A, B) => A.map((a, t) => a.map((x, i) => x + B[t][i]))
  const project = (X, W) => X.map(x => {
    const y = new Float64Array(W.length / x.length)
    for (let o = 0, at = 0; o < y.length; o++) {
      let sum = 0
      for (let i = 0; i < x.length; i++, at++) sum += x[i] * W[at]
      y[o] = sum
    }
    return y
  })
  const cut = (x, i, size) => x.subarray(i * size, (i + 1) * size)

  // Chapters 01, 05, 07, 12
  const softmax = scores => {
    const top = Math.max(...scores)
    const powers = scores.map(score => Math.exp(score - top))
    const sum = powers.reduce((a, b) => a + b)
    return powers.map(power => power / sum)
  }
  const sigmoid = x => 1 / (1 + Math.exp(-x))
  const silu = x => x * sigmoid(x)
  const lookUp = (ids, E, size) => ids.map(id => cut(E, id, size))
  const meanSquare = x => dot(x, x) / x.length
  const reciprocalRms = (x, eps = EPS) => 1 / Math.sqrt(meanSquare(x) + eps)
  const rmsNorm = (x, gain, eps) =>
    times(scaled(x, reciprocalRms(x, eps)), gain)
  const gatedFeedForward = (read, gate, up, down) => {
    const U = read(up)
    return project(read(gate).map((g, t) => times(g.map(silu), U[t])), down)
  }

  // Chapter 21: a gain moves into the matrix that reads it, feature by feature.
  const fold = (W, gain) => W.map((w, at) => w * gain[at % gain.length])

  // What a part reads: the stream behind a norm, through the part's matrix.
  // Folded, the division waits until after the product; off, the gain stays.
  const behindNorm = (X, gain, norm) => {
    if (norm === "folded") {
      const s = X.map(x => reciprocalRms(x))
      return W => project(X, fold(W, gain)).map((y, t) => scaled(y, s[t]))
    }
    const Z = X.map(x => norm === "off" ? times(x, gain) : rmsNorm(x, gain))
    return W => project(Z, W)
  }

  // Chapters 08 to 10: attention
  const causalMask = n =>
    Array.from({ length: n }, (_, t) => Array.from({ length: n }, (_, j) =>
      j <= t))
  const ropeTables = (t, d_k) => {
    const angle = Float64Array.from({ length: d_k / 2 },
      (_, p) => t * BASE ** (-2 * p / d_k))
    return { cos: angle.map(Math.cos), sin: angle.map(Math.sin) }
  }
  const ropeHalfSplit = (x, { cos, sin }) => {
    const half = x.length / 2
    return x.map((_, i) => i < half
      ? x[i] * cos[i] - x[i + half] * sin[i]
      : x[i - half] * sin[i - half] + x[i] * cos[i - half])
  }
  const attentionWeights = (Q, K, mask, divisor) => Q.map((q, t) => softmax(
    Float64Array.from(K, (k, j) => !mask || mask[t][j]
      ? dot(q, k) / (divisor ? Math.sqrt(q.length) : 1) : -Infinity)))
  const average = (weights, V) => {
    const columns = Array.from(V[0], (_, i) => Float64Array.from(V, v => v[i]))
    return weights.map(row => Float64Array.from(columns, v => dot(row, v)))
  }

  // Chapters 16 and 17: memories. A state has d_v rows of d_k numbers.
  const unitLength = x => scaled(x, 1 / Math.max(Math.hypot(...x), 1e-12))
  const readMemory = (state, q) => Float64Array.from(state, row => dot(row, q))
  const writeSum = (state, k, v) =>
    state.map((row, i) => row.map((x, j) => x + v[i] * k[j]))
  const writeDelta = (state, k, v, beta) => {
    const old = readMemory(state, k)
    return writeSum(state, k, v.map((x, i) => beta * (x - old[i])))
  }
  const fromMemory = (kind, Q, K, V, beta) => {
    let state = Array.from(V[0], () => new Float64Array(K[0].length))
    return Q.map((q, t) => {
      state = kind === "delta" ? writeDelta(state, K[t], V[t], beta[t])
        : writeSum(state, K[t], scaled(V[t], beta[t]))
      return readMemory(state, q)
    })
  }
  // The weight of each token's value in what is read: the query, led back
  // through the states; what a later key has overwritten, no longer counts.
  const memoryWeights = (kind, Q, K, beta) => Q.map((query, t) => {
    const row = new Float64Array(Q.length), q = query.slice()
    for (let j = t; j >= 0; j--) {
      row[j] = beta[j] * dot(q, K[j])
      if (kind === "delta") q.forEach((x, i) => { q[i] = x - row[j] * K[j][i] })
    }
    return row
  })

  // Chapter 19: each feature is a sum over its own last four numbers.
  const shortConvolution = (Z, taps, positions) => Z.map((z, t) =>
    z.map((_, f) => {
      let sum = 0
      for (let i = positions ? 0 : WIDTH - 1; i < WIDTH; i++) {
        const from = t + 1 - WIDTH + i
        if (from >= 0) sum += taps[WIDTH * f + i] * Z[from][f]
      }
      return sum
    }))

  // The heads of a layer: where each looked, and what it brings, Y (n, d_v).
  const inHeads = (X, h) => Array.from({ length: h }, (_, i) =>
    X.map(x => cut(x, i, x.length / h)))
  const attend = (model, W, read, switches) => {
    const [Q, K, V] = ["Q", "K", "V"].map(M =>
      inHeads(read(W(`W_${M}.weight`)), model.heads))
    const rotate = X => switches.positions
      ? X.map((x, t) => ropeHalfSplit(x, ropeTables(t, x.length))) : X
    const mask = switches.mask && causalMask(Q[0].length)
    return V.map((v, i) => {
      const weights = attentionWeights(rotate(Q[i]), rotate(K[i]), mask,
        switches.divisor)
      return { weights, Y: average(weights, v) }
    })
  }
  const remember = (model, W, read, switches) => {
    const [Q, K, V] = ["Q", "K", "V"].map((M, place) => {
      const Z = read(W(`W_${M}.weight`))
      const taps = cut(W("conv.weight"), place, WIDTH * Z[0].length)
      return inHeads(shortConvolution(Z, taps, switches.positions)
        .map(z => z.map(silu)), model.heads)
    })
    const bias = W("to_beta.bias")
    const betas = read(W("to_beta.weight"))
      .map(z => z.map((x, i) => sigmoid(x + bias[i])))
    return V.map((v, i) => {
      const q = Q[i].map(unitLength), k = K[i].map(unitLength)
      const beta = betas.map(each => each[i])
      return { weights: memoryWeights(model.kind, q, k, beta),
        Y: fromMemory(model.kind, q, k, v, beta)
          .map(y => rmsNorm(y, W("norm.weight"), MEMORY_EPS)) }
    })
  }

  // Chapter 11: what head i adds, its d_v columns of W_O.
  const headOutput = (Y, W_O, i) => {
    const d_v = Y[0].length, d_model = Math.sqrt(W_O.length)
    return project(Y, W_O.filter((_, at) =>
      Math.floor(at % d_model / d_v) === i))
  }

  // Chapter 13: the parts in order, and the stream behind each place where
  // they add to it. A part that is off brings zeros.
  const run = (model, ids, switches) => {
    const { weights, heads, layers, kind } = model
    const d_model = weights["norm.weight"].length
    const zeros = () => ids.map(() => new Float64Array(d_model))
    let X = lookUp(ids, weights.E, d_model)
    const parts = [{ name: "the word itself", out: X }]
    const stream = [X], attention = []
    const join = found => {
      parts.push(...found)
      const outs = found.map(({ out }) => out)
      X = switches.shortcut ? outs.reduce(plus, X) : outs.reduce(plus)
      stream.push(X)
    }
    for (let b = 0; b < layers; b++) {
      const W = name => weights[`blocks.${b}.${name}`]
      const asks = behindNorm(X, W("norm_1.weight"), switches.norm)
      const found = (kind === "attention" ? attend : remember)(
        model, name => W(`attention.${name}`), asks, switches)
      attention.push(found.map(head => head.weights))
      join(Array.from({ length: heads }, (_, i) => ({
        name: `block ${b + 1}, head ${i}`,
        out: switches.heads[b][i]
          ? headOutput(found[i].Y, W("attention.W_O.weight"), i) : zeros() })))
      const thinks = behindNorm(X, W("norm_2.weight"), switches.norm)
      join([{ name: `block ${b + 1}, feed-forward`,
        out: switches.ffn[b] ? gatedFeedForward(thinks, W("ffn.gate.weight"),
          W("ffn.up.weight"), W("ffn.down.weight")) : zeros() }])
    }
    const logits = behindNorm(X, weights["norm.weight"], switches.norm)(
      weights["W_U.weight"])
    return { logits, probabilities: logits.map(softmax), attention, stream,
      rms: stream.map(each => each.map(x => Math.sqrt(meanSquare(x)))), parts,
      factor: X.map(x => switches.norm === "off" ? 1 : reciprocalRms(x)),
      switches }
  }

  // What each part gives to logit(answer) minus the mean logit of the rivals,
  // at token t; answer and rivals are ids. Without the shortcut only the last
  // part reaches the logits.
  const contributions = ({ weights }, result, t, answer, rivals) => {
    const gain = weights["norm.weight"], U = weights["W_U.weight"]
    const row = id => cut(U, id, gain.length)
    const direction = gain.map((g, i) => result.factor[t] * g * (
      row(answer)[i] - rivals.reduce((sum, id) => sum + row(id)[i], 0) /
        rivals.length))
    return result.parts.map(({ name, out }, p) => ({ name, value:
      result.switches.shortcut || p === result.parts.length - 1
        ? dot(out[t], direction) : 0 }))
  }

  const everything = ({ kind, layers, heads }) => ({
    ...kind === "attention" && { mask: true, divisor: true },
    positions: true, shortcut: true, norm: "pre",
    heads: Array.from({ length: layers }, () => Array(heads).fill(true)),
    ffn: Array(layers).fill(true) })

  // Chapter 01: a sign, 5 bits of exponent, 10 of fraction; a byte at a time.
  const decode = code => {
    const S = code >> 15, E = code >> 10 & 31, M = code & 1023
    return (-1) ** S * (E ? 2 ** (E - 15) * (1 + M / 1024)
      : 2 ** -14 * M / 1024)
  }
  const unpacked = ({ shapes, packed, ...rest }) => {
    const bytes = atob(packed), weights = {}
    let at = 0
    for (const name in shapes) {
      weights[name] = new Float64Array(shapes[name].reduce((a, b) => a * b))
        .map(() => decode(bytes.charCodeAt(at++) | bytes.charCodeAt(at++) << 8))
    }
    return { ...rest, weights }
  }

  const models = {}, waiting = {}
  const register = (name, data) => { models[name] = unpacked(data) }
  // At once, if the model is there.
  const load = (name, done, failed = () => {}) => {
    if (models[name]) return done(models[name])
    if (waiting[name]) return waiting[name].push([done, failed])
    waiting[name] = [[done, failed]]
    const script = document.createElement("script")
    script.src = new URL(`${name}.js`, HERE)
    script.onload = script.onerror = () => {
      const all = waiting[name]
      delete waiting[name]
      for (const [done, failed] of all) {
        if (models[name]) done(models[name])
        else failed()
      }
    }
    document.head.append(script)
  }

  return { load, register, run, everything, contributions }
})()
