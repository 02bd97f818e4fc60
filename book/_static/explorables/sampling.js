// Chapter 15: probabilities at a temperature, by (15.1), and what top-k and
// top-p keep of them.
explorable("sampling", ({ numbers, picture, slider, choice }) => {
  const ROWS = {
    "Anna gave ...": numbers.coin,
    "... Tom gave Eva ...": numbers.either,
    "... who has the kite?": numbers.sure,
  }
  const LEFT = 34, BOTTOM = 172, WIDE = 296, HIGH = 150

  const tempered = (row, T) => softmax(row.map(p => Math.log(p) / T))
  const topK = (row, k) => {
    const border = [...row].sort((a, b) => b - a)[k - 1]
    return row.filter(p => p >= border).length
  }
  const topP = (row, p) => {
    let sum = 0
    return row.filter(share => {
      const short = sum < p - 1e-12
      sum += share
      return short
    }).length
  }

  const bars = draw("g"), rules = [0, 1].map(i => ({
    line: draw("path", { class: `line kept ${COLORS[i]}` }),
    label: words(LEFT + WIDE, 46 + 36 * i, "", { "text-anchor": "end" }),
    y: 54 + 36 * i,
  }))
  picture(340, 190, "A bar for the probability of each of ten words, sorted. Above " +
    "them, a line over the tokens that top-p keeps, and one over those that " +
    "top-k keeps.",
  draw("path", { class: "line faint",
    d: `M${LEFT} ${BOTTOM - HIGH}V${BOTTOM}H${LEFT + WIDE}` }),
  ...[0, 0.5, 1].map(p => words(LEFT - 6, BOTTOM - HIGH * p + 4, String(p),
    { "text-anchor": "end" })),
  words(LEFT, 12, "probability"),
  bars, ...rules.flatMap(rule => [rule.line, rule.label]))

  const row = choice("behind", Object.keys(ROWS))
  const two = value => value.toFixed(2)
  const T = slider("temperature T", [0.1, 3, 0.1], 1, value => value.toFixed(1))
  const k = slider("top-k: k", [1, 10, 1], 3)
  const p = slider("top-p: p", [0.05, 1, 0.05], 0.65, two)

  return () => {
    const shares = tempered(ROWS[row.value], Number(T.value))
    const step = WIDE / shares.length
    bars.replaceChildren(...shares.flatMap((share, i) => [
      draw("rect", { x: LEFT + step * (i + 0.1), width: 0.8 * step,
        y: BOTTOM - HIGH * share, height: HIGH * share, class: "fill bar" }),
      words(LEFT + step * (i + 0.5), BOTTOM + 13, two(share),
        { "text-anchor": "middle" })]))
    k.max = shares.length
    const kept = [topP(shares, Number(p.value)), topK(shares, k.value)]
    const names = [`top-p, p = ${two(Number(p.value))}`,
      `top-k, k = ${k.value}`]
    rules.forEach(({ line, label, y }, i) => {
      put(line, { d: `M${LEFT} ${y}h${step * kept[i]}` })
      label.textContent = `${names[i]}: keeps ${kept[i]}`
    })
    return `At T = ${T.value}: ${list(shares, 2)}. Kept: ` +
      names.map((name, i) => `${kept[i]} by ${name}`).join("; ") + "."
  }
})
