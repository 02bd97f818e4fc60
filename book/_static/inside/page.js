// "Look inside": a kite model reads a story; each word can be asked, each part
// switched off. The state is in `chosen`; everything shown follows from it.
(() => {
  const box = document.getElementById("inside")
  const STORIES = [
    ["The kite moves twice (13)",
      "Anna gave Tom a kite . he thanked her for it . Tom gave Eva the kite " +
      ". Ben gave Mia a drum . who has the kite?"],
    ["Who is thanked? (08)",
      "Anna gave Tom a kite . he thanked"],
    ["There and back (10)",
      "Anna gave Eva a kite . Eva gave Anna the kite . who has the kite?"],
    ["Six gifts and thanks (07)",
      "Tom gave Ben a kite . then Zoe gave a drum to Eva . Mia gave a book " +
      "to Zoe . Zoe gave Tom the book . Eva gave Tom the drum . he thanked " +
      "her for it . Ben gave Eva the kite . she thanked him for it . then " +
      "Tom gave the book to Mia . who has the kite?"],
    ["Seven gifts and thanks (14)",
      "Anna gave Tom a kite . he thanked her for it . Tom gave the kite to " +
      "Anna . she thanked him for it . Leo gave Eva a drum . Anna gave Eva " +
      "the kite . then Tom gave Max a book . then Eva gave the drum to Leo " +
      ". Leo gave the drum to Max . who has the kite?"],
    ["A list of facts (19)",
      "Tom has a kite . Eva has the kite . Mia has a drum . who has the " +
      "kite?"],
  ]
  // A model's name here, the head that is shown first, what to break first
  const MODELS = {
    kite: ["attention", [1, 3], "1.3"],
    sum: ["sum rule", [0, 0], "positions"],
    delta: ["delta rule", [0, 0], "1.0"] }
  const WHOLE = {
    mask: "no word sees those that come after it",
    positions: "where a word stands: queries and keys turn",
    divisor: "scores are divided by √12",
    shortcut: "a part adds to the stream and does not replace it" }
  const NORMS = { pre: "pre-norm", folded: "folded", off: "off" }
  const MOST = 90                       // words of a story
  const KINDS = [8, 14, 20, 36]         // names end here, things, questions

  const chosen = { name: "kite", words: STORIES[0][1].split(" "), at: 27,
    head: [1, 3] }
  const models = {}                     // those that are here, and switches
  const history = []                    // stories and places, to undo
  const shows = []
  let model, on, whole, now             // the results with everything on, now
  let pinned = chosen.at, pause

  const say = word => word === "." ? "the full stop" : word
  const partName = (b, i) =>
    `block ${b + 1}, ${i < 4 ? `head ${i}` : "feed-forward"}`
  const best = row => [...row.keys()].sort((a, b) => row[b] - row[a])
  const button = (text, press, attributes = {}) => {
    const made = make("button", { type: "button", ...attributes },
      ...[text].flat())
    made.addEventListener("click", press)
    return made
  }
  const pressed = (made, is) => {
    shows.push(() => put(made, { "aria-pressed": is() }))
    return made
  }

  // Does a thing begin twice? Then nobody can say who has it.
  const twice = (words, thing) => words.filter((word, i) =>
    word === "a" && words[i + 1] === thing).length > 1
  // Who has a thing after these words; undefined if they do not say.
  const owner = (words, thing) => {
    let who
    words.forEach((word, i) => {
      const [a, b, c, d] = words.slice(i + 1, i + 5)
      const [person, what] = word === "has" ? [words[i - 1], b]
        : word !== "gave" ? [] : c === "to" ? [d, b] : [a, c]
      if (what === thing && isName(person)) who = person
    })
    return who
  }
  const isName = word => model.words.indexOf(word) < 8 && word !== undefined
  const kindOf = id => KINDS.findIndex(end => id < end)
  const question = t => {
    const words = chosen.words.slice(0, t), thing = chosen.words[t].slice(0, -1)
    return chosen.words[t].endsWith("?") && !twice(words, thing) &&
      { who: owner(words, thing) }
  }
  // The word whose logit is taken apart, and the others of its kind.
  const asked = t => {
    const who = question(t).who
    const id = who ? model.words.indexOf(who)
      : best(whole.probabilities[t])[0]
    return { id, rivals: model.words.map((_, i) => i)
      .filter(i => i !== id && kindOf(i) === kindOf(id)) }
  }

  // What is off, in words
  const missing = () => {
    const found = Object.keys(WHOLE).filter(name => on[name] === false)
    if (on.norm === "off") found.push("norms")
    on.heads.forEach((heads, b) => {
      if (!heads.includes(true)) found.push(`block ${b + 1}, all heads`)
      else heads.forEach((is, i) => { if (!is) found.push(partName(b, i)) })
      if (!on.ffn[b]) found.push(partName(b, 4))
    })
    return found
  }

  const changes = () => {
    const off = missing()
    return [off.length && `without ${off.join(", ")}`,
      on.norm === "folded" && "with folded norms"].filter(Boolean).join(", ")
  }

  const nowIs = () => {
    const off = missing()
    const alone = [...on.heads.flat(), ...on.ffn].filter(is => !is).length +
      off.filter(name => name === "norms" || name in WHOLE).length
    return "now" + (off.length > 1 ? `, ${alone} parts off` : off.length
      ? `, without ${off[0]}` : on.norm === "folded" ? ", norms folded" : "")
  }

  // One switch by its short name: 1.3 is a head, ffn1, mask, folded, ...
  const switchOff = (off, on) => {
    const [b, i] = off.split(".")
    if (i) on.heads[b - 1][i] = false
    else if (off.startsWith("ffn")) on.ffn[off[3] - 1] = false
    else if (off === "folded" || off === "norm") {
      on.norm = off === "norm" ? "off" : off
    } else on[off] = false
  }
  // The first part without which the model says another word here
  const PARTS = [..."12"].flatMap(b => [..."0123"].map(i => `${b}.${i}`))
    .concat("ffn1", "ffn2", Object.keys(WHOLE), "norm")
  const breaks = t => {
    const here = models[chosen.name]
    return [MODELS[chosen.name][2], ...PARTS].find(off => {
      const without = Inside.everything(model)
      if (!off.includes(".") && !off.startsWith("ffn") && !(off in without)) {
        return false
      }
      switchOff(off, without)
      here.said[off] ??= Inside.run(model, ids(), without).probabilities
        .map(row => best(row)[0])
      return here.said[off][t] !== best(whole.probabilities[t])[0]
    })
  }
  const ids = () => chosen.words.map(word => model.words.indexOf(word))

  // A row of numbers as bars: how far from 0, and a mark where it was before.
  const bars = (rows, low = 0, high = 1) => rows.forEach(row => {
    const x = value => 100 * (value - low) / (high - low)
    const { track, value, before } = row
    const [from, to] = [x(0), x(value)].sort((a, b) => a - b)
    put(track.children[0], { style: `left: ${from}%; width: ${to - from}%`,
      class: value < 0 ? "bar minus" : "bar" })
    put(track.children[1], { style: `left: ${x(before ?? value)}%`,
      class: before === undefined || Math.abs(before - value) < 0.005
        ? "before same" : "before" })
    put(track.children[2], { style: `left: ${x(0)}%` })
  })
  const newTrack = () => make("span", { class: "track", "aria-hidden": true },
    make("span"), make("span"), make("span", { class: "zero" }))
  const section = (name, title, ...content) => make("section",
    { class: name, "aria-label": title }, make("h2", {}, title), ...content)

  // The story, a word a button; the chosen one is in the tab order.
  const arcs = draw("svg", { class: "arcs", "aria-hidden": true })
  const line = make("div", { class: "line", role: "listbox",
    "aria-label": "The story, word by word", "aria-orientation": "horizontal" })
  const looked = make("p", { class: "looked" })
  const hint = make("p", { class: "note hint" })
  const unread = make("p", { class: "note unread" },
    "This model has read no lists of facts in its training.")
  shows.push(() => {
    unread.hidden = chosen.name !== "kite" ||
      !chosen.words.some((word, i) => word === "has" &&
        chosen.words[i - 1] !== "who")
  })
  const pin = t => { pinned = t; point(t) }
  const point = t => { chosen.at = t; update() }
  const placed = target => [...line.children].indexOf(
    target.closest("[role=option]"))
  const showWords = () => {
    line.replaceChildren(...chosen.words.map(word => make("span",
      { role: "option", class: "word" }, word)))
  }
  line.addEventListener("click", event => {
    const t = placed(event.target)
    if (t >= 0) { pin(t); line.children[t].focus() }
  })
  // A mouse that moves asks; a page that is scrolled below it does not.
  let mouse
  addEventListener("pointermove", event => {
    const place = `${event.clientX} ${event.clientY}`
    if (mouse !== place && event.pointerType === "mouse" &&
      line.contains(event.target)) {
      const t = placed(event.target)
      if (t >= 0 && t !== chosen.at) point(t)
    }
    mouse = place
  })
  line.addEventListener("pointerleave", () => {
    if (chosen.at !== pinned) point(pinned)
  })
  line.addEventListener("keydown", event => {
    const last = chosen.words.length - 1
    const t = { ArrowLeft: pinned - 1, ArrowUp: pinned - 1,
      ArrowRight: pinned + 1, ArrowDown: pinned + 1, Home: 0,
      End: last }[event.key]
    if (t === undefined) return
    event.preventDefault()
    pin(Math.max(0, Math.min(t, last)))
    line.children[pinned].focus()
  })
  const looks = () => {
    const [b, i] = chosen.head
    return now.attention[b][i][chosen.at]
  }
  const strongest = row => [...row.keys()]
    .sort((a, b) => Math.abs(row[b]) - Math.abs(row[a]))
  const showLooks = () => {
    const row = looks(), most = Math.max(1, ...row.map(Math.abs))
    const at = [...line.children].map(word => ({ x: word.offsetLeft +
      word.offsetWidth / 2, y: word.offsetTop, foot: word.offsetTop +
      word.offsetHeight }))
    ;[...line.children].forEach((word, j) => {
      put(word, { "aria-selected": j === chosen.at,
        tabindex: j === pinned ? 0 : -1, style: `--look: ${
          Math.abs(row[j]) / most}`,
        class: row[j] < 0 ? "word minus" : "word" })
    })
    put(arcs, { viewBox: `0 0 ${line.offsetWidth} ${line.offsetHeight}`,
      width: line.offsetWidth, height: line.offsetHeight })
    const from = at[chosen.at]
    arcs.replaceChildren(...strongest(row).slice(0, 12)
      .filter(j => j !== chosen.at && Math.abs(row[j]) / most > 0.04)
      .map(j => {
        const to = at[j], size = Math.abs(row[j]) / most
        const rise = Math.min(18, 7 + Math.abs(to.x - from.x) / 12)
        const half = (to.foot + from.y) / 2
        return draw("path", { class: row[j] < 0 ? "arc minus" : "arc",
          "stroke-width": 1 + 3 * size, "stroke-opacity": 0.25 + 0.45 * size,
          d: to.y === from.y
            ? `M${from.x} ${from.y}C${from.x} ${from.y - rise} ${to.x} ${
              to.y - rise} ${to.x} ${to.y}`
            : to.y < from.y ? `M${from.x} ${from.y}C${from.x} ${half} ${to.x} ${
              half} ${to.x} ${to.foot}`
            : `M${from.x} ${from.foot}C${from.x} ${half} ${to.x} ${half} ${
              to.x} ${to.y}` })
      }))
    looked.textContent = lookText()
    hint.textContent = "Eight heads, and the word that each " +
      (model.kind === "attention" ? "looks at most. Choose one for the arcs."
        : "reads most. Choose one for the arcs; orange ones carry a minus.")
  }
  const lookText = () => {
    const row = looks(), [b, i] = chosen.head
    const most = strongest(row).slice(0, 3)
      .filter((j, k) => !k || Math.abs(row[j]) > 0.05)
    return `From ${say(chosen.words[chosen.at])}, ${partName(b, i)} ${
      model.kind === "attention" ? "looks at" : "reads"} ` + most.map(j =>
      `${say(chosen.words[j])} (word ${j + 1}) with ${fixed(row[j], 2)}`)
      .join(", ") + (on.heads[b][i] ? "." : ". It is off: nothing is added.")
  }
  const picker = make("div", { class: "heads" }, ...[0, 1].map(b =>
    make("div", { role: "group", "aria-label": `look through block ${b + 1}` },
      make("span", {}, `block ${b + 1}`), ...[0, 1, 2, 3].map(i => {
        const word = make("b")
        const pick = pressed(button([`head ${i}`, word], () => {
          chosen.head = [b, i]
          update()
        }), () => String(chosen.head) === `${b},${i}`)
        shows.push(() => {
          const row = now.attention[b][i][chosen.at]
          const j = strongest(row)[0]
          word.textContent = chosen.words[j]
          pick.classList.toggle("off", !on.heads[b][i])
          put(pick, { "aria-label": `${partName(b, i)}, looks most at ${
            say(chosen.words[j])}` })
        })
        return pick
      }))))

  // What comes next: everything on, and now
  const answers = ["everything on", "now"].map(title => ({
    title: make("span", {}, title), word: make("b"), p: make("span"),
    verdict: make("span") }))
  const after = make("p", { class: "after" })
  const reset = button("", () => {
    if (changes()) Object.assign(on, Inside.everything(model))
    else switchOff(breaks(chosen.at), on)
    changed()
  }, { class: "reset" })
  const back = make("a", { class: "back", href: "#inside", hidden: true })
  const answer = make("div", { class: "answer" }, after, back,
    ...answers.map(({ title, word, p, verdict }) => make("p", {},
      make("small", {}, title, " ", verdict), word, " ", p)), reset)
  const lists = ["everything on", "now"].map(title => ({
    title: make("p", {}, title),
    rows: Array.from({ length: 5 }, () => ({ track: newTrack(),
      word: make("span", { class: "name" }), p: make("span",
        { class: "value" }) })) }))
  const showNext = () => {
    const t = chosen.at, ask = question(t)
    after.replaceChildren("After ", make("b", {}, chosen.words[t]),
      `, word ${t + 1} of ${chosen.words.length}:`)
    answers[1].title.textContent = lists[1].title.textContent = nowIs()
    ;[whole, now].forEach((result, k) => {
      const row = result.probabilities[t], five = best(row).slice(0, 5)
      const word = model.words[five[0]]
      answers[k].word.textContent = word
      answers[k].p.textContent = fixed(row[five[0]], 2)
      const right = word === ask.who
      answers[k].verdict.textContent = !ask ? "" : !ask.who
        ? "(nobody has it)" : right ? "✓ right" : `✗ ${ask.who} has it`
      answers[k].verdict.className = right ? "right" : "wrong"
      answers[k].word.className = word === model.words[
        best(whole.probabilities[t])[0]] ? "" : "other"
      five.forEach((id, i) => {
        const { word, p } = lists[k].rows[i]
        word.textContent = model.words[id]
        p.textContent = fixed(row[id], 2)
        lists[k].rows[i].value = row[id]
      })
      bars(lists[k].rows)
    })
    const off = changes(), part = off || breaks(t)
    reset.textContent = off ? "Switch everything on"
      : part ? `${ask.who && ask.who !== answers[0].word.textContent
        ? "Change" : "Break"} it: one part off`
      : "No part alone changes this word"
    reset.disabled = !off && !part
    reset.classList.toggle("first", !off)
  }

  // The parts: a switch, and what each adds to the right answer
  const toggle = (name, is, set) => {
    const made = button("", () => { set(!is()); changed() },
      { role: "switch", class: "toggle", "aria-label": name })
    shows.push(() => put(made, { "aria-checked": is() }))
    return made
  }
  const parts = []
  const part = (name, ...controls) => {
    const row = { track: newTrack(), shown: make("span", { class: "value" }) }
    parts.push(row)
    return make("li", {}, ...controls, make("span", { class: "name" }, name),
      row.track, row.shown)
  }
  // The page's list of reasons: its first link of an item says why.
  const links = {}
  for (const item of document.querySelectorAll(".inside-why li")) {
    links[item.querySelector("strong").textContent] = item.querySelector("a")
  }
  const why = name => {
    const { href, textContent } = links[name]
    return make("a", { class: "why", href,
      "aria-label": `why: ${textContent}` }, textContent.slice(0, 2))
  }
  const only = (b, i) => {
    const is = () => on.heads[b].every((each, k) => each === (k === i))
    return pressed(button("only", () => {
      on.heads[b] = is() ? Array(4).fill(true)
        : on.heads[b].map((_, k) => k === i)
      chosen.head = [b, i]
      changed()
    }, { class: "only", "aria-label": `only ${partName(b, i)}: the block's ` +
      "other heads off" }), is)
  }
  const block = b => [
    make("li", { class: "title" }, `block ${b + 1}`, make("span", {},
      "why heads: ", why("heads"), ", feed-forward: ", why("feed-forward"))),
    ...[0, 1, 2, 3].map(i => part(`head ${i}`, toggle(partName(b, i),
      () => on.heads[b][i], is => { on.heads[b][i] = is }), only(b, i))),
    part("feed-forward", toggle(partName(b, 4), () => on.ffn[b],
      is => { on.ffn[b] = is }))]
  const split = make("p", { class: "note" })
  const total = make("span", { class: "value" })
  const showParts = () => {
    const t = chosen.at, { id, rivals } = asked(t)
    const [before, after] = [whole, now].map(result =>
      Inside.contributions(model, result, t, id, rivals)
        .map(({ value }) => value))
    const sums = [before, after].map(values => values.reduce((a, b) => a + b))
    parts.forEach((row, p) => {
      row.value = after[p]
      row.before = before[p]
      row.shown.textContent = fixed(after[p], 2)
    })
    total.textContent = (changes() ? `${fixed(sums[0], 2)} → ` : "") +
      fixed(sums[1], 2)
    const all = [...before, ...after]
    bars(parts, Math.min(0, ...all), Math.max(0.1, ...all))
    const kind = ["seven names", "five things", "five questions",
      "words that are no name and no thing"][kindOf(id)]
    split.textContent = `What each part adds to the logit of ${
      say(model.words[id])}, compared with the mean of the other ${kind}. ` +
      "Marks show where the bars end with everything on. The last norm " +
      "divides all by the size of the stream: without one, others can grow."
  }

  // The stream, by depth
  const depths = ["the words", "+ attention 1", "+ feed-forward 1",
    "+ attention 2", "+ feed-forward 2"].map(name => ({ name,
    track: newTrack(), shown: make("span", { class: "value" }) }))
  const showStream = () => {
    depths.forEach((row, k) => {
      row.value = now.rms[k][chosen.at]
      row.before = whole.rms[k][chosen.at]
      row.shown.textContent = fixed(row.value, 2)
    })
    bars(depths, 0, Math.max(...depths.flatMap(row => [row.value, row.before])))
  }

  // The map: a row for each word that looks, a column for each that is seen.
  const map = draw("svg", { class: "map", role: "img" })
  const mapTitle = make("p", { class: "note" })
  let grid
  const showMap = () => {
    const [b, i] = chosen.head, A = now.attention[b][i], n = A.length
    const labels = 56
    const size = Math.floor(Math.max(4, Math.min(20,
      (map.parentElement.clientWidth - labels - 18) / n)) * 10) / 10
    const most = Math.max(1, ...A.map(row => Math.max(...row.map(Math.abs))))
    grid = { size, labels }
    const side = labels + n * size + 16
    const d = Array.from({ length: 20 }, () => "")
    A.forEach((row, t) => row.forEach((weight, j) => {
      const level = Math.min(9, Math.floor(10 * Math.abs(weight) / most))
      if (Math.abs(weight) / most > 0.02) {
        d[level + (weight < 0 ? 10 : 0)] += `M${labels + j * size} ${
          labels + t * size}h${size}v${size}h${-size}z`
      }
    }))
    const t = chosen.at, seen = strongest(A[t])[0]
    const every = size >= 10
    const short = word => every || word !== "." ? word : "full stop"
    const label = (j, turned) => words(0, 0, short(chosen.words[j]), {
      class: j === t && !turned ? "strong" : "", "text-anchor":
        turned ? "start" : "end",
      transform: turned
        ? `translate(${labels + (j + 0.5) * size + 3} ${labels - 4}) ` +
          "rotate(-60)"
        : `translate(${labels - 4} ${labels + (j + 0.5) * size + 3.5})` })
    map.classList.toggle("few", !every)
    put(map, { viewBox: `0 0 ${side} ${side}`, width: side, height: side,
      "aria-label": `Attention of ${partName(b, i)} as a map: a row for each ` +
      "word that looks, a column for each word it looks at." })
    map.replaceChildren(
      draw("rect", { class: "ground", x: labels, y: labels, width: n * size,
        height: n * size }),
      ...d.map((path, k) => path && draw("path", { d: path, class:
        k < 10 ? "cell" : "cell minus", "fill-opacity": (k % 10 + 1) / 10 }))
        .filter(Boolean),
      draw("rect", { class: "lit", x: labels, y: labels + t * size,
        width: n * size, height: size }),
      ...chosen.words.flatMap((_, j) => [
        (every || j === t) && label(j, false),
        (every || j === seen) && label(j, true)]).filter(Boolean))
    const seenIs = model.kind === "attention" ? "looked at" : "read"
    mapTitle.textContent = `All words at once, ${partName(b, i)}: a row ` +
      `looks, a column is ${seenIs}. ` +
      "The framed row is the chosen word." + (grid.size >= 10 ? "" :
      " Its label and that of its strongest column are shown.")
  }
  map.addEventListener("click", event => {
    const { top } = map.getBoundingClientRect()
    const t = Math.floor((event.clientY - top - grid.labels) / grid.size)
    if (t >= 0 && t < chosen.words.length) pin(t)
  })

  // The story's words as buttons
  const write = (words, at) => {
    if (words.length > MOST) return
    history.push([chosen.words, pinned])
    tell(words, at)
  }
  const tell = (words, at = words.length - 1) => {
    chosen.words = words
    pinned = chosen.at = Math.max(0, at)
    pick.value = STORIES.findIndex(([, text]) => text === words.join(" "))
    showWords()
    changed()
  }
  // Another story: nothing is replaced in it until a reader says so.
  const begin = (words, at) => {
    replace.checked = builder.open = false
    back.hidden = true
    tell(words, at)
  }
  const replace = make("input", { type: "checkbox", id: "inside-replace" })
  const clear = () => {
    replace.checked = false
    write([])
  }
  const add = word => {
    const words = [...chosen.words]
    if (replace.checked && words.length) {
      words[pinned] = word
      write(words, pinned)
    } else write([...words, word])
  }
  const pick = make("select", { id: "inside-story" },
    ...STORIES.map(([title], k) => make("option", { value: k }, title)),
    make("option", { value: -1 }, "Your own story"))
  pick.addEventListener("input", () => {
    if (pick.value >= 0) begin(STORIES[pick.value][1].split(" "))
    else {
      clear()
      builder.open = true
    }
  })
  const builder = make("details", { class: "builder" },
    make("summary", {}, "Change the story, or build your own"))
  const build = () => {
    const keys = (title, from, to) => make("div", { class: "keys",
      role: "group", "aria-label": title }, ...model.words.slice(from, to)
      .map(word => button(word, () => add(word), word === "."
        ? { "aria-label": "full stop" } : {})))
    builder.append(
      make("div", { class: "keys", role: "group", "aria-label": "edit" },
        button("Undo", () => { if (history.length) tell(...history.pop()) }),
        button("Clear", clear),
        button("Add the model's word", () => {
          const last = now?.probabilities[chosen.words.length - 1]
          if (last) write([...chosen.words, model.words[best(last)[0]]])
        }),
        make("label", { for: "inside-replace" }, replace,
          " replace the chosen word")),
      keys("names", 0, 8), keys("things", 8, 14), keys("questions", 14, 20),
      keys("other words", 20, 35),
      make("p", { class: "note" }, "These are all words that the models " +
        "know. They were trained on stories in which three things are given " +
        "and handed on, with thanks and questions; the two memories on lists " +
        "of facts, too. In any other text, what they say was not trained. " +
        "Try it."))
  }

  // Choose a model; compare it with the others
  const chooser = make("div", { class: "models", role: "group",
    "aria-label": "model" },
  ...Object.entries(MODELS).map(([name, [title]]) => {
    const word = make("small", {}, "…")
    shows.push(() => {
      const here = models[name]
      word.textContent = !here ? "load it" : !chosen.words.length ? "" :
        here.model.words[best(read(here).probabilities[chosen.at])[0]]
    })
    return pressed(button([title, word], () => choose(name)),
      () => chosen.name === name)
  }))
  const reasons = make("span", { class: "reasons" }, "why: ",
    ...Object.values(MODELS).map(([title]) => {
      const link = why(title)
      link.hidden = title !== MODELS.kite[0]
      shows.push(() => { link.hidden = title !== MODELS[chosen.name][0] })
      return link
    }))
  const read = here => {
    const text = chosen.words.join(" ")
    if (here.text !== text) {
      here.text = text
      here.said = {}
      here.whole = Inside.run(here.model, chosen.words.map(word =>
        here.model.words.indexOf(word)), Inside.everything(here.model))
    }
    return here.whole
  }
  const problem = make("p", { class: "problem", role: "alert" })
  const choose = (name, then = () => {}) => Inside.load(name, loaded => {
    models[name] ??= { model: loaded, on: Inside.everything(loaded) }
    chosen.name = name
    chosen.head = MODELS[name][1]
    model = loaded
    on = models[name].on
    if (builder.children.length < 2) build()
    problem.textContent = ""
    box.classList.remove("waiting")
    then()
    changed()
  }, () => {
    problem.textContent = `The model could not be loaded: ${name}.js is not ` +
      "there. Try again, or reload the page."
  })

  // Results follow the story and the switches; what is shown, the chosen word.
  const changed = () => {
    if (!model) return
    if (chosen.words.length) {
      whole = read(models[chosen.name])
      now = changes() ? Inside.run(model, ids(), on) : whole
    }
    update()
  }
  const status = make("p", { class: "visually-hidden", role: "status" })
  const stage = make("div", { class: "stage" })
  const empty = make("p", { class: "note" },
    "No word yet. Take the first one from the buttons below.")
  const redraw = () => {
    const told = chosen.words.length > 0
    box.classList.toggle("untold", !told)
    empty.hidden = told
    if (told) {
      for (const show of [showLooks, showNext, showParts, showStream, showMap,
        ...shows]) show()
    }
  }
  const update = () => {
    redraw()
    clearTimeout(pause)
    pause = setTimeout(() => { status.textContent = state() }, 800)
  }
  const state = () => {
    if (!chosen.words.length) return empty.textContent
    const off = changes()
    return `${MODELS[chosen.name][0]}, after ${
      say(chosen.words[chosen.at])}, word ${chosen.at + 1}: with everything on ${
      answerText(0)}` +
      (off && `; now, ${off}: ${answerText(1)}`) +
      `. ${lookText()}`
  }
  const answerText = k => ["word", "p", "verdict"].map(
    key => say(answers[k][key].textContent)).join(" ").trim()

  // Put the page together
  const switches = Object.entries(WHOLE).map(([name, text]) => {
    const told = make("span")
    const row = make("li", {}, toggle(name, () => on[name] !== false,
      is => { on[name] = is }), make("span", {}, make("b", {}, name), " ",
      told), why(name))
    shows.push(() => {
      row.hidden = !(name in on)
      told.textContent = name === "positions" && model.kind !== "attention"
        ? "a short convolution sees three words back" : text
    })
    return row
  })
  const norms = make("li", {}, make("span", {}, make("b", {}, "norm"),
    " divides by size"),
    make("span", { class: "norms", role: "group", "aria-label": "norm" },
      ...Object.entries(NORMS).map(([how, text]) => pressed(
        button(text, () => { on.norm = how; changed() }),
        () => on.norm === how))), why("norm"))
  const change = make("p", { class: "note" })
  shows.push(() => {
    const most = Math.max(...now.logits.map((row, t) => Math.max(
      ...row.map((x, i) => Math.abs(x - whole.logits[t][i])))))
    change.textContent = !changes() ? "Everything is on."
      : `Now ${changes()}. The largest change of a logit in this ` +
        `story: ${most < 0.005 ? most.toExponential(0) : fixed(most, 2)}.`
  })
  const absent = box.firstElementChild      // for paper
  absent.className = "absent"
  box.replaceChildren(absent,
    make("div", { class: "controls" },
      make("label", { for: "inside-story" }, "Story"), pick, chooser, reasons),
    answer, problem, stage, status)
  stage.append(
    section("tale", "The story: choose a word",
      make("div", { class: "sentence" }, arcs, line), unread, empty,
      builder,
      hint, picker, looked),
    make("div", {},
      section("break", "Switch something off", make("ul", {}, ...switches,
        norms), change),
      section("next", "The next word", ...lists.map(({ title, rows }) =>
        make("div", {}, title, make("ol", {},
          ...rows.map(({ word, track, p }) => make("li", {}, word, track,
            p)))))),
      section("look", "The map", mapTitle, make("div", {}, map))),
    make("div", {},
      section("parts", "The parts, and what each adds", split, make("ul", {},
        part("the word itself"), ...block(0), ...block(1),
        make("li", { class: "total" }, make("span", { class: "name" },
          "sum"), total))),
      section("stream", "The size of the stream (RMS)", make("ul", {},
        ...depths.map(({ name, track, shown }) => make("li", {},
          make("span", { class: "name" }, name), track, shown))))))
  pick.value = 0
  showWords()
  box.classList.add("waiting")
  addEventListener("load", () => setTimeout(choose, 0, "kite"))
  // As wide as the box, and no higher or lower after it.
  new ResizeObserver(() => { if (now) redraw() }).observe(answer)

  // "Set it up" and "Show it": a state named by a button of the text
  let questions = 0
  document.querySelectorAll("button[data-begin], button[data-show]"
  ).forEach(made => {
    const question = made.closest("details")?.previousElementSibling
      ?? made.closest("p")
    const number = question.id ? questions : ++questions
    question.id = `question-${number}`
    made.hidden = false
    made.addEventListener("click", () => {
      const wish = new URLSearchParams(made.dataset.show ?? made.dataset.begin)
      box.scrollIntoView()
      choose(wish.get("model") ?? "kite", () => {
        Object.assign(on, Inside.everything(model))
        for (const off of wish.get("off")?.split(",") ?? []) switchOff(off, on)
        const words = (wish.get("words") ?? STORIES[wish.get("story") ?? 0][1])
          .split(" ")
        if (wish.has("look")) {
          const [b, i] = wish.get("look").split(".")
          chosen.head = [b - 1, Number(i)]
        }
        begin(words, (wish.get("at") ?? words.length) - 1)
        replace.checked = builder.open = wish.has("replace")
        back.href = `#${question.id}`
        back.textContent = `back to question ${number}`
        back.hidden = false
        line.children[pinned]?.focus({ preventScroll: true })
      })
    })
  })
})()
