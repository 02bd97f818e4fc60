// Chapter 04: a token of three features by (4.1), seen as in the figure.
explorable("plane", ({ numbers, picture, slider, handle }) => {
  const { across, x_hat } = numbers
  const UNIT = 23, ROOT = Math.sqrt(3)
  const left = [84, 102], right = [204, 102]
  const start = Math.atan2(dot(x_hat, across[1]), dot(x_hat, across[0]))

  const standardize = x => {
    const mean = dot(x, [1, 1, 1]) / 3
    const std = Math.hypot(...x.map(feature => feature - mean)) / ROOT
    return { mean, std, output: x.map(feature => (feature - mean) / std) }
  }
  const plane = x => across.map(direction => dot(x, direction))
  const fromLeft = ([u, v]) => [left[0] + UNIT * u, left[1] - UNIT * v]
  const fromSide = ({ mean, std }) =>
    [right[0] + UNIT * ROOT * std, right[1] - UNIT * ROOT * mean]

  const rays = [0, 1].map(() => draw("path", { class: "line faint" }))
  const outputs = [0, 1].map(() => draw("circle", { r: 5,
    class: "fill c0 behind" }))
  const polar = (u, v) => {
    const degrees = Math.round((Math.atan2(v, u) - start) * 180 / Math.PI)
    turn.value = (degrees + 720) % 360
    factor.value = Math.hypot(u, v) / ROOT
  }
  const grips = [
    handle((x, y) => polar((x - left[0]) / UNIT, (left[1] - y) / UNIT)),
    handle((x, y) => {
      factor.value = Math.max(0, x - right[0]) / UNIT / ROOT
      offset.value = (right[1] - y) / UNIT / ROOT
    })]
  picture(340, 212, "Left, seen along (1, 1, 1): the token, and its output " +
    "on a circle of radius root 3. Right, from the side: the token at its " +
    "distance from that direction and its height, the output at height 0.",
  words(left[0], 14, "seen along (1, 1, 1)", { "text-anchor": "middle" }),
  words(260, 14, "from the side", { "text-anchor": "middle" }),
  draw("circle", { cx: left[0], cy: left[1], r: UNIT * ROOT,
    class: "line faint" }),
  draw("path", { class: "line faint",
    d: `M${left[0] - 4} ${left[1]}h8m-4 -4v8M${right[0]} 22V184` +
      `M${right[0] - 4} ${right[1]}H330` }),
  words(right[0] - 6, 30, "√3 μ", { "text-anchor": "end" }),
  words(332, right[1] + 15, "√3 σ", { "text-anchor": "end" }),
  words(right[0] + 6, 184, "constant tokens"),
  draw("circle", { cx: 14, cy: 204, r: 5, class: "fill" }),
  words(24, 208, "token (to drag)"),
  draw("circle", { cx: 124, cy: 204, r: 5, class: "fill c0" }),
  words(134, 208, "output"),
  ...rays, ...grips, ...outputs)

  const turn = slider("direction", [0, 359, 1], 0, degrees => `${degrees}°`)
  const factor = slider("factor a", [-1.8, 1.8, 0.1], 1.6,
    value => fixed(value, 1))
  const offset = slider("offset c", [-1.8, 1.8, 0.1], 0.7,
    value => fixed(value, 1))

  return () => {
    const angle = start + turn.value * Math.PI / 180
    const x = across[0].map((_, i) => Number(offset.value) + factor.value *
      ROOT * (Math.cos(angle) * across[0][i] + Math.sin(angle) * across[1][i]))
    const token = standardize(x)
    const constant = token.std < 1e-9
    const from = [fromLeft(plane(x)), fromSide(token)]
    const to = constant ? from : [fromLeft(plane(token.output)),
      fromSide({ mean: 0, std: 1 })]
    from.forEach((place, i) => {
      put(grips[i], { transform: `translate(${place})` })
      put(rays[i], { d: `M${place}L${to[i]}` })
      put(outputs[i], { cx: to[i][0], cy: to[i][1],
        visibility: constant ? "hidden" : "visible" })
    })
    return `Token (${list(x, 2)}): mean ${fixed(token.mean, 2)}, standard ` +
      `deviation ${fixed(token.std, 2)}. ` + (constant
        ? "A constant token: (4.1) divides 0 by 0."
        : `Output (${list(token.output, 2)}).`)
  }
})
