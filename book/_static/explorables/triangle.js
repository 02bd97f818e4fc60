// Chapter 08: a query among three keys, its weights and its answer by (8.1).
explorable("triangle", ({ numbers, picture, slider, handle }) => {
  const { K, V, q } = numbers
  const UNIT = 40, cx = 82, cy = 106, REACH = 1.3
  const norm = Math.hypot(...q), start = Math.atan2(q[1], q[0])
  const place = ([x, y]) => [178 + 15 * x, 166 - 15 * y]
  const names = ["₁", "₂", "₃"]

  const look = query => {
    const scores = K.map(key => dot(query, key))
    const weights = softmax(scores)
    const answer = V[0].map((_, i) => dot(weights, V.map(value => value[i])))
    return { scores, weights, answer }
  }
  const at = (angle, length) =>
    [length * Math.cos(angle), length * Math.sin(angle)]

  const query = draw("path", { class: "line thick" })
  const [q_name, y_name] = ["q", "y"].map(name => words(0, 0, name))
  const around = draw("path", { class: "line faint" })
  const answer = draw("circle", { r: 6, class: "fill" })
  const bars = K.map((_, j) => draw("rect",
    { x: 44, y: 212 + 18 * j, height: 12, class: `fill ${COLORS[j]}` }))
  const shares = K.map((_, j) => words(0, 222 + 18 * j, ""))
  const grip = handle((x, y) => {
    const degrees = (Math.atan2(cy - y, x - cx) - start) * 180 / Math.PI
    turn.value = (Math.round(degrees) + 720) % 360
    if (factor.value > REACH) return        // a long query only turns
    factor.value = Math.min(REACH, Math.hypot(x - cx, y - cy) / UNIT / norm)
  })
  picture(340, 264, "Left, the query as an arrow among three keys. Right, " +
    "the answer inside the triangle of the three values. Below, the three " +
    "attention weights as bars.",
  words(cx, 12, "query and keys", { "text-anchor": "middle" }),
  words(253, 12, "values and answer", { "text-anchor": "middle" }),
  ...K.map(([x, y], j) => draw("path", { class: `line thick ${COLORS[j]}`,
    d: arrow(cx, cy, cx + UNIT * x, cy - UNIT * y) })),
  ...K.map(([x, y], j) => words(cx + UNIT * x * 1.3 - 6,
    cy - UNIT * y * 1.3 + 4, `k${names[j]}`)),
  query, grip, q_name,
  draw("polygon", { class: "line faint", points: V.map(place).join(" ") }),
  around,
  ...V.map((value, j) => draw("circle", { cx: place(value)[0],
    cy: place(value)[1], r: 5, class: `fill ${COLORS[j]}` })),
  ...V.map((value, j) => words(place(value)[0] + [-20, 2, -20][j],
    place(value)[1] + [4, 17, 2][j], `v${names[j]}`)),
  answer, y_name,
  ...K.map((_, j) => words(20, 222 + 18 * j, `a${names[j]}`)),
  ...bars, ...shares)

  const turn = slider("turned by", [0, 359, 1], 0, degrees => `${degrees}°`)
  const factor = slider("factor", [0, 20, 0.1], 1, value => fixed(value, 1))

  return () => {
    const angle = start + turn.value * Math.PI / 180
    const length = norm * factor.value
    const { scores, weights, answer: y } = look(at(angle, length))
    const [dx, dy] = at(angle, UNIT * norm * Math.min(factor.value, REACH))
    put(query, { d: arrow(cx, cy, cx + dx, cy - dy) })
    put(grip, { transform: `translate(${cx + dx} ${cy - dy})` })
    put(q_name, { x: cx + dx + 18, y: cy - dy + 4 })
    put(around, { d: "M" + Array.from({ length: 181 }, (_, i) => place(
      look(at(i * Math.PI / 90, length)).answer).map(
      each => each.toFixed(1)).join(" ")).join("L") })
    put(answer, { cx: place(y)[0], cy: place(y)[1] })
    put(y_name, { x: place(y)[0] + 9, y: place(y)[1] - 5 })
    weights.forEach((weight, j) => {
      put(bars[j], { width: 1 + 230 * weight })
      put(shares[j], { x: 52 + 230 * weight })
      shares[j].textContent = fixed(weight, 3)
    })
    return `Scores ${list(scores, 2)}. Weights ${list(weights, 3)}. ` +
      `Answer (${list(y, 2)}).`
  }
})
