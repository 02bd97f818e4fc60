// What explorables share: they draw in SVG, their state is that of their
// controls, and a result is announced when the reader pauses.
const element = (made, attributes, content) => {
  for (const name in attributes) made.setAttribute(name, attributes[name])
  made.append(...content)
  return made
}
const make = (tag, attributes = {}, ...content) =>
  element(document.createElement(tag), attributes, content)
const draw = (tag, attributes = {}, ...content) => element(
  document.createElementNS("http://www.w3.org/2000/svg", tag),
  attributes, content)
const put = (drawn, attributes) => element(drawn, attributes, [])

const COLORS = ["c0", "c1", "c2"]          // classes, as in the figures

const words = (x, y, text, attributes) =>
  draw("text", { x, y, ...attributes }, text)
const minus = number => String(number).replace("-", "−")
const fixed = (number, digits) =>
  minus(number.toFixed(digits)).replace(/^−([0.]+)$/, "$1")
const list = (numbers, digits) =>
  numbers.map(number => fixed(number, digits)).join(", ")

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0)
const softmax = scores => {
  const top = Math.max(...scores)
  const powers = scores.map(score => Math.exp(score - top))
  const sum = powers.reduce((a, b) => a + b)
  return powers.map(power => power / sum)
}

// The outline of an arrow, its tip as long as there is room for it.
const arrow = (x1, y1, x2, y2) => {
  const length = Math.hypot(x2 - x1, y2 - y1)
  const angle = Math.atan2(y2 - y1, x2 - x1)
  const wing = side => {
    const size = Math.min(7, length / 2)
    return [x2 - size * Math.cos(angle + side),
      y2 - size * Math.sin(angle + side)].join(" ")
  }
  return `M${x1} ${y1}L${x2} ${y2}M${wing(0.5)}L${x2} ${y2}L${wing(-0.5)}`
}

// `start` builds an explorable from its tools, and returns what redraws it
// and says its state in words.
const explorable = (script, start) => {
  const box = document.querySelector(`[data-script="${script}"]`)
  const controls = make("div", { class: "controls" })
  const said = make("p", { class: "said" })
  const status = make("p", { class: "visually-hidden", role: "status" })
  const shows = []
  let pause

  const redraw = () => {
    said.textContent = state()        // first: it may set a slider's limits
    for (const show of shows) show()
  }
  const update = () => {
    redraw()
    clearTimeout(pause)
    pause = setTimeout(() => { status.textContent = said.textContent }, 800)
  }
  const labeled = (label, control, ...rest) => {
    control.id = `${script}-${controls.childElementCount}`
    controls.append(make("label", { for: control.id }, label), control, ...rest)
    control.addEventListener("input", update)
    return control
  }

  const tools = {
    numbers: JSON.parse(box.dataset.numbers),
    update,

    picture(width, height, label, ...content) {
      box.append(draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
        "aria-label": label }, ...content))
    },

    slider(label, [min, max, step], value, text = minus) {
      const shown = make("span", { class: "value", "aria-hidden": true })
      const input = labeled(label, make("input",
        { type: "range", min, max, step, value }), shown)
      shows.push(() => {
        shown.textContent = text(Number(input.value))
        input.setAttribute("aria-valuetext", shown.textContent)
      })
      return input
    },

    choice(label, options) {
      return labeled(label, make("select", {},
        ...options.map(option => make("option", {}, option))))
    },

    buttons(label, actions) {
      const row = make("div", { class: "buttons", role: "group",
        "aria-label": label })
      for (const text in actions) {
        const button = make("button", { type: "button" }, text)
        button.addEventListener("click", () => { actions[text](); update() })
        row.append(button)
      }
      controls.append(row)
    },

    // A point to drag; the sliders do the same without a pointer.
    handle(move) {
      const grip = draw("g", { class: "handle" },
        draw("circle", { r: 15, class: "reach" }), draw("circle", { r: 6 }))
      grip.addEventListener("pointerdown", event => {
        event.preventDefault()
        grip.setPointerCapture(event.pointerId)
      })
      grip.addEventListener("pointermove", event => {
        if (!grip.hasPointerCapture(event.pointerId)) return
        const { x, y } = new DOMPoint(event.clientX, event.clientY)
          .matrixTransform(grip.ownerSVGElement.getScreenCTM().inverse())
        move(x, y)
        update()
      })
      return grip
    },
  }
  const state = start(tools)
  box.append(controls, said, status)
  redraw()
  box.hidden = false
}
