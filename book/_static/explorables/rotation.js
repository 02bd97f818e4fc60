// Chapter 10: one query and one key, their pairs of features rotated by (10.5).
explorable("rotation", ({ numbers, picture, slider, buttons }) => {
  const { q, k } = numbers
  const BASE = 10000, LAST = 39, ROOM = 32
  const pairs = Array.from({ length: q.length / 2 }, (_, p) => p)
  const frequency = pairs.map(p => BASE ** (-2 * p / q.length))
  const scale = ROOM / Math.max(...[q, k].flatMap(vector =>
    pairs.map(p => Math.hypot(vector[2 * p], vector[2 * p + 1]))))
  const center = p => [42 + 85 * (p % 4), 56 + 104 * Math.floor(p / 4)]

  const rotated = (vector, p, t) => {
    const [a, b] = vector.slice(2 * p)
    const cos = Math.cos(t * frequency[p]), sin = Math.sin(t * frequency[p])
    return [a * cos - b * sin, a * sin + b * cos]
  }
  const moved = (vector, t) => vector.map((feature, i) => {
    const angle = t * frequency[Math.floor(i / 2)]
    return feature + (i % 2 ? Math.cos(angle) : Math.sin(angle))
  })

  const hands = pairs.map(() => [0, 1].map(which =>
    draw("path", { class: `line thick ${COLORS[which]}` })))
  const terms = pairs.map(p => words(center(p)[0], center(p)[1] + 46, "",
    { "text-anchor": "middle" }))
  picture(340, 228, "Eight circles, one for each pair of features. In each, " +
    "an arrow for the query's pair and one for the key's, rotated. Below " +
    "each, what the pair adds to the score.",
  ...pairs.flatMap(p => [
    draw("circle", { cx: center(p)[0], cy: center(p)[1], r: ROOM,
      class: "line faint" }),
    words(center(p)[0], center(p)[1] - 37,
      `ω = ${Number(frequency[p].toPrecision(2))}`,
      { "text-anchor": "middle" }),
    ...hands[p], terms[p]]),
  draw("path", { class: "line thick c0", d: arrow(84, 220, 108, 220) }),
  words(113, 224, "query"),
  draw("path", { class: "line thick c1", d: arrow(194, 220, 218, 220) }),
  words(223, 224, "key"))

  const i = slider("query position i", [0, LAST, 1], 20)
  const j = slider("key position j", [0, LAST, 1], 15)
  const step = by => () => {
    const [first, second] = [i, j].map(each => Number(each.value) + by)
    if (Math.min(first, second) < 0 || Math.max(first, second) > LAST) return
    i.value = first
    j.value = second
  }
  buttons("both positions", {
    "both − 1": step(-1),
    "both + 1": step(1),
    "exchange i and j": () => { [i.value, j.value] = [j.value, i.value] },
  })

  return () => {
    const parts = pairs.map(p => {
      const both = [rotated(q, p, i.value), rotated(k, p, j.value)]
      const [x, y] = center(p)
      both.forEach(([a, b], which) => put(hands[p][which],
        { d: arrow(x, y, x + scale * a, y - scale * b) }))
      const term = dot(...both)
      terms[p].textContent = (term > 0 ? "+" : "") + fixed(term, 2)
      return term
    })
    const rope = parts.reduce((a, b) => a + b)
    const added = dot(moved(q, i.value), moved(k, j.value))
    return `Query ${i.value}, key ${j.value}, offset ` +
      `${minus(i.value - j.value)}. Score with RoPE ${fixed(rope, 1)}, ` +
      `with added sinusoids ${fixed(added, 1)}.`
  }
})
