// Predictions: choices become buttons, the word on a choice appears, and what
// was chosen stays in this browser, under one key. Without this script a page
// has the list and the folded answer.
(() => {
  const KEY = "inside-the-transformer"
  const totals = JSON.parse(document.currentScript.dataset.predictions)
  let answers = {}        // "4.1": "B"; all there is where nothing can be kept
  let kept = true

  const store = action => {
    try { return action(localStorage) } catch { kept = false }
  }
  const recall = () => kept && store(storage => {
    answers = { ...JSON.parse(storage.getItem(KEY)) }
  })

  const make = (tag, attributes, ...content) => {
    const element = document.createElement(tag)
    for (const name in attributes) element.setAttribute(name, attributes[name])
    element.append(...content)
    return element
  }

  const prediction = box => {
    const { number, right } = box.dataset
    const list = box.querySelector(".choices")
    const details = box.querySelector("details")
    const summary = details.querySelector("summary")
    const words = [...details.querySelectorAll(".word")]
    const reply = make("div", { class: "reply", role: "status" })
    details.before(reply)

    const label = () => {
      summary.textContent = `${details.open ? "Hide" : "Show"} the answer`
    }
    details.addEventListener("toggle", label)
    label()

    const buttons = [...list.children].map((item, i) => {
      const button = make("button", { type: "button", value: "ABCD"[i] },
        ...item.firstElementChild.childNodes)
      item.firstElementChild.replaceWith(button)
      button.addEventListener("click", () => {
        recall()
        answers[number] = button.value
        store(storage => storage.setItem(KEY, JSON.stringify(answers)))
        show()
      })
      return button
    })

    let shown = null
    return () => {
      const chosen = answers[number]
      if (chosen === shown) return
      shown = chosen
      for (const button of buttons) {
        const pressed = button.value === chosen
        button.setAttribute("aria-pressed", pressed)
        button.classList.toggle("right", pressed && chosen === right)
      }
      for (const word of words) word.hidden = word.dataset.on === chosen
      const word = words.find(word => word.hidden)
      reply.replaceChildren()
      if (chosen === right) details.open = true
      if (!word) {
        details.open = false
        return
      }
      const copy = word.cloneNode(true)
      copy.hidden = false
      reply.append(make("p", { class: "verdict" }, chosen === right
        ? `✓ (${chosen}) is right.` : `✗ (${chosen}) is not right.`), copy)
    }
  }

  const answered = chapter => Object.keys(answers).filter(
    number => number.split(".")[0] === chapter).length

  // A mark beside each link to a chapter, in the sidebar and on the first page.
  const mark = link => {
    const [, file] = link.pathname.match(/\/(\d\d)_[^/]*$/) || []
    const chapter = String(Number(file))
    if (!totals[chapter]) return () => {}
    const sign = make("span", { class: "answered" })
    link.append(sign)
    return () => {
      const done = answered(chapter)
      const all = done >= totals[chapter]
      const text = all ? "all predictions answered"
        : `${done} of ${totals[chapter]} predictions answered`
      sign.replaceChildren(...done ? [" ",
        make("span", { role: "img", title: text }, all ? "●" : "◐")] : [])
    }
  }

  // At the end of a chapter: how far, kept where, and how to forget it.
  const progress = boxes => {
    const chapter = boxes[0].dataset.number.split(".")[0]
    const count = make("span")
    const status = make("span", { role: "status" })
    const forget = make("button", { type: "button" }, "Forget my answers")
    forget.addEventListener("click", () => {
      answers = {}
      store(storage => storage.removeItem(KEY))
      show()
      status.textContent = " Forgotten, in all chapters."
    })
    document.querySelector("article.bd-article").append(
      make("p", { class: "progress-line" }, count, " ", forget, status))
    return () => {
      count.textContent = `You answered ${answered(chapter)} of ` +
        `${totals[chapter]} predictions of this chapter. ` + (kept
          ? "Answers stay on this device only."
          : "This browser keeps no answers.")
      status.textContent = ""
    }
  }

  const boxes = [...document.querySelectorAll(".predict")]
  const parts = [...boxes.map(prediction),
    ...[...document.querySelectorAll(".bd-docs-nav a, #the-chapters a")]
      .map(mark),
    ...(boxes.length ? [progress(boxes)] : [])]
  const show = () => parts.forEach(part => part())
  const refresh = () => { recall(); show() }
  addEventListener("storage", refresh)        // another tab of the same book
  addEventListener("pageshow", refresh)       // a page that the browser kept
  refresh()
})()
