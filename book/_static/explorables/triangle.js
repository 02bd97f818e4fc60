// Chapter 08: a query among the keys of Anna, Tom and the kite, its weights
// and its answer by (8.1).
explorable("triangle", ({ numbers, picture, slider, handle }) => {
  const { K, V, her } = numbers
  const UNIT = 40, cx = 82, cy = 106, REACH = 1.3
  const norm = Math.hypot(...her), start = Math.atan2(her[1], her[0])
  const place = ([x, y]) => [253 + 15 * x, 160 - 18 * y]
  const names = ["Anna", "Tom", "kite"]
  const asking = { 0: "her", 90: "he", 225: "it" }

  const look = query => {
    const scores = K.map(key => dot(query, key))
    const weights = softmax(scores)
    const answer = V[0].map((_, i) => dot(weights, V.map(value => value[i])))
    return { scores, weights, answer }
  }
  const at = (angle, length) =>
    [length * Math.cos(angle), length * Math.sin(angle)]

  const query = draw("path", { class: "line thick" })
  const [q_name, y_name] = [0, 0].map(() => words(0, 0, ""))
  const around = draw("path", { class: "line faint" })
  const answer = draw("circle", { r: 6, class: "fill" })
  const bars = K.map((_, j) => draw("rect",
    { x: 54, y: 212 + 18 * j, height: 12, class: `fill ${COLORS[j]}` }))
  const shares = K.map((_, j) => words(0, 222 + 18 * j, ""))
  const grip = handle((x, y) => {
    const degrees = (Math.atan2(cy - y, x - cx) - start) * 180 / Math.PI
    turn.value = (Math.round(degrees) + 720) % 360
    if (factor.value > REACH) return        // a long query only turns
    factor.value = Math.min(REACH, Math.hypot(x - cx, y - cy) / UNIT / norm)
  })
  picture(340, 264, "Left, the query as an arrow among the keys of Anna, " +
    "Tom and the kite. Right, the answer inside the triangle of their " +
    "places. Below, the three attention weights as bars.",
  words(cx, 12, "query and keys", { "text-anchor": "middle" }),
  words(253, 12, "values and answer", { "text-anchor": "middle" }),
  ...K.map(([x, y], j) => draw("path", { class: `line thick ${COLORS[j]}`,
    d: arrow(cx, cy, cx + UNIT * x, cy - UNIT * y) })),
  ...K.map(([x, y], j) => words(cx + UNIT * x * 1.6,
    cy - UNIT * y * 1.6 + 4, names[j], { "text-anchor": "middle" })),
  query, grip, q_name,
  draw("polygon", { class: "line faint", points: V.map(place).join(" ") }),
  around,
  ...V.map((value, j) => draw("circle", { cx: place(value)[0],
    cy: place(value)[1], r: 5, class: `fill ${COLORS[j]}` })),
  ...V.map((value, j) => words(place(value)[0], place(value)[1] +
    [18, 18, -9][j], names[j], { "text-anchor": "middle" })),
  answer, y_name,
  ...K.map((_, j) => words(14, 222 + 18 * j, names[j])),
  ...bars, ...shares)

  const turn = slider("turned by", [0, 359, 1], 0, degrees => `${degrees}°`)
  const factor = slider("factor", [0, 20, 0.1], 1, value => fixed(value, 1))

  return () => {
    const angle = start + turn.value * Math.PI / 180
    const length = norm * factor.value
    const { scores, weights, answer: y } = look(at(angle, length))
    const name = asking[turn.value]
    q_name.textContent = name ?? "query"
    y_name.textContent = name ?? "answer"
    const [dx, dy] = at(angle, UNIT * norm * Math.min(factor.value, REACH))
    put(query, { d: arrow(cx, cy, cx + dx, cy - dy) })
    put(grip, { transform: `translate(${cx + dx} ${cy - dy})` })
    put(q_name, { x: cx + dx * 0.55 + 8, y: cy - dy * 0.55 + 14 })
    put(around, { d: "M" + Array.from({ length: 181 }, (_, i) => place(
      look(at(i * Math.PI / 90, length)).answer).map(
      each => each.toFixed(1)).join(" ")).join("L") })
    put(answer, { cx: place(y)[0], cy: place(y)[1] })
    put(y_name, { x: place(y)[0] + 9, y: place(y)[1] - 7 })
    weights.forEach((weight, j) => {
      put(bars[j], { width: 1 + 220 * weight })
      put(shares[j], { x: 62 + 220 * weight })
      shares[j].textContent = fixed(weight, 3)
    })
    return `Scores ${list(scores, 2)}. Weights ${list(weights, 3)}. ` +
      `Answer (${list(y, 2)}).`
  }
})
