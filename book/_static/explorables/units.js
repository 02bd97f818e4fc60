// Chapter 22: the cycle model. A task starts when its unit is free and what it
// needs is done.
explorable("units", ({ picture, slider }) => {
  const LEFT = 48, WIDE = 262, LANE = 15
  const range = n => [...Array(n).keys()]
  const task = (unit, name, ...needs) => ({ unit, name, needs })

  const norm = (C, token) => [
    ...range(C).map(i => task(0, `square ${token} ${i}`)),
    ...range(C).map(i => task(0, `scale ${token} ${i}`,
      `square ${token} ${C - 1}`))]
  const after = need => (C, K, token) => [...norm(C, token),
    ...range(C).flatMap(i => range(K).map(j =>
      task(1, `tile ${token} ${i} ${j}`, `scale ${token} ${need(C, i)}`)))]
  const deferred = (C, K, token) => [
    ...range(C).map(i => task(0, `square ${token} ${i}`)),
    ...range(K).flatMap(j => [
      ...range(C).map(i => task(1, `tile ${token} ${i} ${j}`)),
      task(0, `scale ${token} ${j}`, `tile ${token} ${C - 1} ${j}`,
        `square ${token} ${C - 1}`)])]
  const PROGRAMS = {
    "norm first": after(C => C - 1),
    "by chunks": after((C, i) => i),
    deferred,
  }

  // Tasks of one kind, of one token, without a break are one box.
  const schedule = tasks => {
    const done = {}, free = [0, 0], boxes = [], last = []
    for (const { unit, name, needs } of tasks) {
      const start = Math.max(free[unit], ...needs.map(need => done[need]))
      done[name] = free[unit] = start + 1
      const [kind, token] = name.split(" "), box = last[unit]
      if (box && box.kind === kind && box.token === token &&
          box.end === start) {
        box.end++
      } else {
        last[unit] = { unit, kind, token, start, end: start + 1 }
        boxes.push(last[unit])
      }
    }
    return { boxes, cycles: Math.max(...free) }
  }

  const rows = Object.keys(PROGRAMS).map((name, i) => {
    const y = 26 + 62 * i
    return { y, lanes: draw("g"), end: words(0, y + LANE + 4, ""),
      still: [words(LEFT, y - 5, name, { class: "strong" }),
        ...["vector", "matrix"].map((unit, lane) => words(LEFT - 5,
          y + LANE * (lane + 0.5) + 4, unit, { "text-anchor": "end" }))] }
  })
  picture(340, 206, "Three timelines, for norm first, by chunks and " +
    "deferred. In each, the vector unit squares and scales, and the matrix " +
    "unit multiplies tiles.",
  ...rows.flatMap(row => [...row.still, row.lanes, row.end]),
  ...[["c0", "squares", 48], ["c1", "scalings", 118], ["bar", "tiles", 192]]
    .flatMap(([color, text, x]) => [
      draw("rect",
        { x, y: 190, width: 11, height: 11, class: `fill ${color}` }),
      words(x + 15, 200, text)]))

  const B = slider("tokens in line", [1, 8, 1], 1)
  const C = slider("chunks C", [1, 6, 1], 4)
  const K = slider("columns K", [1, 6, 1], 4)

  return () => {
    const plans = Object.values(PROGRAMS).map(program => schedule(
      range(Number(B.value)).flatMap(token =>
        program(Number(C.value), Number(K.value), token))))
    const cycle = WIDE / Math.max(...plans.map(plan => plan.cycles))
    const color = { square: "c0", scale: "c1", tile: "bar" }
    plans.forEach(({ boxes, cycles }, i) => {
      const { y, lanes, end } = rows[i]
      lanes.replaceChildren(...boxes.map(box => draw("rect", {
        x: LEFT + cycle * box.start, y: y + LANE * box.unit,
        width: Math.max(0.5, cycle * (box.end - box.start) - 0.8),
        height: LANE - 2, class: `fill ${color[box.kind]}` })))
      put(end, { x: LEFT + cycle * cycles + 4 })
      end.textContent = cycles
    })
    const [first, chunks, late] = plans.map(plan => plan.cycles)
    const saved = 100 * (1 - late / first)
    return `Norm first ${first} cycles, by chunks ${chunks}, deferred ` +
      `${late}. Deferring ${saved < 0 ? "costs" : "saves"} ` +
      `${Math.abs(saved).toFixed(1)} % of norm first.`
  }
})
