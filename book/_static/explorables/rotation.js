// Chapter 10: she asks, both women are asked; their hands turned by (10.4),
// one hour a word, and the same scores with the clock added, by (10.3).
explorable("rotation", ({ numbers, picture, slider, choice }) => {
  const { q, k } = numbers                  // up, right
  const HOUR = Math.PI / 6, ROOM = 72, cx = 170, cy = 112
  const tip = (hour, length) => [cx + length * Math.sin(hour * HOUR),
    cy - length * Math.cos(hour * HOUR)]
  const clock = t => [Math.cos(t * HOUR), Math.sin(t * HOUR)]
  const turned = ([a, b], t) => {
    const [cos, sin] = clock(t)
    return [a * cos - b * sin, a * sin + b * cos]
  }
  const moved = (vector, t) => clock(t).map((tip, i) => tip + vector[i])

  const ray = (kind, length) => {
    const line = draw("path", { class: `line ${kind}`,
      "stroke-linecap": "round" })
    return ([up, right]) => {
      put(line, { d: `M${cx} ${cy}L${cx + length * right} ${cy - length * up}` })
      return line
    }
  }
  const she = ray("bar", 0.8 * ROOM), women = { Anna: ["c0"], Eva: ["c3"] }
  const asks = she([1, 0])
  put(asks, { "stroke-width": 15 })
  for (const name in women) {
    const color = women[name][0]
    women[name] = { hand: ray(`thick ${color}`, 0.72 * ROOM),
      label: words(0, 0, name, { class: "strong", "text-anchor": "middle" }) }
  }
  const story = words(cx, 222, "", { "text-anchor": "middle" })
  picture(340, 232, "A clock face with three hands: a thick one for the query " +
    "of she, and one for the key of each woman. Below, the story.",
  draw("circle", { cx, cy, r: ROOM, class: "line faint" }),
  ...Array.from({ length: 12 }, (_, hour) => draw("path", {
    class: "line faint", d: `M${tip(hour, 0.92 * ROOM).join(" ")}` +
      `L${tip(hour, ROOM).join(" ")}` })),
  asks, ...Object.values(women).flatMap(({ hand, label }) =>
    [hand([1, 0]), label]), story)

  const begins = slider("the story begins at", [0, 48, 1], 0)
  const between = slider("words between", [0, 10, 1], 0)
  const gives = choice("who gives", ["Anna", "Eva"])

  return () => {
    const first = Number(begins.value), more = Number(between.value)
    const other = gives.value === "Anna" ? "Eva" : "Anna"
    const place = { [gives.value]: first, [other]: first + 2 }
    const at = first + 5 + more
    const query = turned(q, at)
    she(query)
    const scores = Object.entries(women).map(([name, { hand, label }]) => {
      const key = turned(k, place[name])
      hand(key)
      const [x, y] = tip(place[name], ROOM + 15)
      put(label, { x, y: y + 4 })
      return { name, rope: dot(query, key),
        added: dot(moved(q, at), moved(k, place[name])) }
    })
    story.textContent = `${gives.value} gave ${other} a kite ` +
      (more ? `(${more} more) ` : "") + "she thanked her for it"
    const said = way => scores.map(score =>
      `${score.name} ${fixed(score[way], 2)}`).join(", ")
    return `She stands at ${at}, ${other} ${at - place[other]} words back and ` +
      `${gives.value} ${at - first}. Scores with RoPE: ${said("rope")}. ` +
      `With the clock added: ${said("added")}.`
  }
})
