// Chapter 01: the bits of a number by (1.2), and its place among all numbers
// of its format.
explorable("bits", ({ picture, slider, choice, update }) => {
  const FORMATS = {      // bits of E and of M; is the largest E reserved?
    "toy, 6 bits": [3, 2, true],
    "e4m3, 8 bits": [4, 3, false],
    "e5m2, 8 bits": [5, 2, true],
  }
  const LEFT = 10, MIDDLE = 170, HALF = 158
  const POWER = { "-": "⁻", ...Object.fromEntries(
    [..."⁰¹²³⁴⁵⁶⁷⁸⁹"].map((sign, digit) => [digit, sign])) }
  const power = text => String(text).replace(/./g, sign => POWER[sign])
  const short = number => minus(Number(number.toPrecision(7)))

  const read = (code, [e, m, reserved]) => {
    const S = code >> (e + m), E = (code >> m) % 2 ** e, M = code % 2 ** m
    const bias = 2 ** (e - 1) - 1
    const value = (-1) ** S * 2 ** (Math.max(E, 1) - bias) *
      ((E > 0) + M / 2 ** m)
    const ulp = 2 ** (Math.max(E, 1) - bias - m)
    const top = E === 2 ** e - 1
    const special = top && reserved ? (M ? "NaN" : S ? "−∞" : "∞")
      : top && M === 2 ** m - 1 ? "NaN" : ""
    return { S, E, M, bias, value, ulp, special }
  }

  // A number line from -end to end, with a tick for each number of the format.
  const axis = (y, title) => {
    const ticks = draw("path", { class: "line" })
    const subnormal = draw("path", { class: "line c1" })
    const place = draw("path", { class: "fill c0" })
    const ends = [["start", LEFT], ["middle", MIDDLE], ["end", MIDDLE + HALF]]
      .map(([anchor, x]) => words(x, y + 26, "", { "text-anchor": anchor }))
    const parts = [words(LEFT, y - 19, title), ticks, subnormal, place, ...ends]
    const show = (format, all, at, end) => {
      const x = value => MIDDLE + HALF * value / end
      const path = chosen => all.filter(
        each => Math.abs(each.value) <= end && chosen(each))
        .map(each => `M${x(each.value).toFixed(2)} ${y}v12`).join("")
      put(ticks, { d: `M${LEFT} ${y + 12}H${MIDDLE + HALF}` +
        path(each => each.E) })
      put(subnormal, { d: path(each => !each.E) })
      put(place, { d: at.special || Math.abs(at.value) > end ? ""
        : `M${x(at.value)} ${y - 1}l-5 -10h10z` })
      ends.forEach((label, i) => { label.textContent = short(end * (i - 1)) })
    }
    return { parts, show }
  }
  const whole = axis(32, "all numbers")
  const near = axis(104, "near 0, enlarged (orange: subnormal)")
  picture(340, 134, "Two number lines with a tick for each number of the " +
    "format, and a mark at the chosen one: all numbers, and those near 0.",
  ...whole.parts, ...near.parts)

  const format = choice("format", Object.keys(FORMATS))
  const code = slider("code", [0, 63, 1], 0b010110)
  const row = make("div", { class: "buttons bits", role: "group",
    "aria-label": "bits" })
  code.parentElement.append(row)

  // A field has a button for each of its bits, which are worth 2 ** low and up.
  const field = (name, letter, count, low) => make("span", { class: "field" },
    ...Array.from({ length: count }, (_, i) => {
      const worth = 2 ** (count - 1 - i)
      const button = make("button", { type: "button",
        "aria-label": `${name} bit${count > 1 ? ` worth ${worth}` : ""}` })
      button.addEventListener("click", () => {
        code.value = code.value ^ (worth << low)
        update()
      })
      return button
    }), make("span", { class: "caption" }, letter))

  let shown, all
  return () => {
    const chosen = FORMATS[format.value], [e, m] = chosen
    if (shown !== chosen) {
      if (shown) {
        code.max = 2 ** (1 + e + m) - 1
        code.value = (2 ** (e - 1) - 1) << m          // the number 1
      }
      row.replaceChildren(field("sign", "S", 1, e + m),
        field("exponent", "E", e, m), field("mantissa", "M", m, 0))
      all = [...Array(2 ** (1 + e + m)).keys()].map(each => read(each, chosen))
        .filter(each => !each.special)
      shown = chosen
    }
    const at = read(Number(code.value), chosen)
    const text = Number(code.value).toString(2).padStart(1 + e + m, "0")
    ;[...row.querySelectorAll("button")].forEach((button, i) => {
      button.textContent = text[i]
      button.setAttribute("aria-pressed", text[i] === "1")
    })
    whole.show(chosen, all, at, Math.max(...all.map(each => each.value)))
    near.show(chosen, all, at, 2 ** (3 - at.bias))
    const fields = `${text[0]} ${text.slice(1, 1 + e)} ${text.slice(1 + e)}: ` +
      `S = ${at.S}, E = ${at.E}, M = ${at.M}. `
    if (at.special) return `${fields}The value is ${at.special}.`
    return `${fields}The value is ${at.S ? "−" : ""}` +
      `2${power(`${Math.max(at.E, 1)}-${at.bias}`)} × ` +
      `(${Number(at.E > 0)} + ${at.M}/${2 ** m}) = ${short(at.value)}. ` +
      `One ulp is ${short(at.ulp)}.`
  }
})
