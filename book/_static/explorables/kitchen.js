// Chapter 22: the same work by four programs. Calls, trips and the product, as
// `estimate` adds them up.
explorable("kitchen", ({ numbers, picture, slider }) => {
  const LEFT = 4, WIDE = 290, WIDTH = 4096
  const RATE = 312e12, BANDWIDTH = 2.039e12
  const microseconds = (operations, bytes) =>
    1e6 * Math.max(operations / RATE, bytes / BANDWIDTH)

  const estimate = (moves, T, call, k) => {
    const trips = moves.reduce((sum, move) => sum + move)
    return [call * (moves.length + 1),
      microseconds(0, 2 * trips * T * WIDTH),
      microseconds(2 * T * WIDTH * k, 2 * (T * WIDTH + WIDTH * k + T * k))]
  }

  const rows = Object.entries(numbers.programs).map(([name, moves], i) => {
    const y = 22 + 44 * i
    return { name, moves, y, bars: draw("g"), end: words(0, y + 15, ""),
      title: words(LEFT, y - 6, name, { class: "strong" }) }
  })
  picture(340, 200, "A bar for the time of each of four programs, of three " +
    "parts: calls, trips and the product.",
  ...rows.flatMap(row => [row.title, row.bars, row.end]),
  ...[["c1", "calls", 4], ["c0", "trips", 74], ["bar", "product", 144]]
    .flatMap(([color, text, x]) => [
      draw("rect",
        { x, y: 185, width: 11, height: 11, class: `fill ${color}` }),
      words(x + 15, 195, text)]))

  const tokens = slider("tokens", [0, 12, 1], 0, value => String(2 ** value))
  const call = slider("µs per call", [0, 10, 1], 5)
  const k = slider("outputs k", [960, 14592, 192], 6144)

  return () => {
    const costs = rows.map(({ moves }) => estimate(moves,
      2 ** Number(tokens.value), Number(call.value), Number(k.value)))
    const totals = costs.map(parts => parts.reduce((a, b) => a + b))
    const scale = WIDE / Math.max(...totals)
    rows.forEach(({ y, bars, end }, i) => {
      let x = LEFT
      bars.replaceChildren(...costs[i].map((cost, part) => {
        const bar = draw("rect", { x, y, width: scale * cost, height: 20,
          class: `fill ${["c1", "c0", "bar"][part]}` })
        x += scale * cost
        return bar
      }))
      put(end, { x: x + 4 })
      end.textContent = totals[i].toFixed(0)
    })
    const [, , fused, late] = totals
    return rows.map(({ name }, i) =>
      `${name} ${totals[i].toFixed(1)} µs`).join(", ") +
      `. Of addition and norm in one, deferring saves ` +
      `${(100 * (1 - late / fused)).toFixed(2)} %.`
  }
})
