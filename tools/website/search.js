// Finds sections. BOOK stands above: the names of each term of the glossary,
// and the pages with their sections: anchor, title, terms explained, text.
{
  const fold = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
  // Plurals fold as well: heads, biases, frequencies.
  const stem = word => word.length < 4 ? word : word.replace(/ies$/, "y")
    .replace(/(s|x|z|ch|sh)es$/, "$1").replace(/(?<!s)s$/, "")
  const split = text => (fold(text).match(/[\p{L}\p{N}]+/gu) ?? []).map(stem)
  const join = words => words.join("")         // pre-norm, pre norm, prenorm

  function tally(text) {
    const times = new Map()
    const compounds = (fold(text).match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)+/gu)
      ?? []).map(word => join(split(word)))
    for (const word of [...split(text), ...compounds])
      times.set(word, (times.get(word) ?? 0) + 1)
    return times
  }

  const terms = new Map()                      // joined name -> its entries
  BOOK.names.forEach((names, place) => {
    for (const name of names) {
      const key = join(split(name))
      terms.set(key, [...(terms.get(key) ?? []), place])
    }
  })
  const sections = BOOK.pages.flatMap(([page, chapter, own]) => own.map(
    ([anchor, title, explains, text]) => {
      const names = explains.flatMap(place => BOOK.names[place])
      return {
        url: `${page}.html#${anchor}`, chapter, title, explains,
        sentences: text.split("\n"),
        late: /^(Exercises|Summary|References)$/.test(title),
        topic: join(split(title.split(":")[0].replace(/^\d\d\. /, ""))),
        joined: join(split(title)), names: names.map(name => join(split(name))),
        fields: [[9, tally(title)], [5, tally(names.join(" | "))],
                 [2, tally(chapter)], [1, tally(text)]],
      }
    }))
  const spread = new Map()
  for (const { fields } of sections)
    for (const word of new Set(fields.flatMap(([, words]) => [...words.keys()])))
      spread.set(word, (spread.get(word) ?? 0) + 1)

  // The query, and the query with a term by each of its other names.
  function variants(words) {
    const found = [words]
    for (let from = 0; from < words.length; from++)
      for (let to = from + 1; to <= words.length; to++)
        for (const place of terms.get(join(words.slice(from, to))) ?? [])
          for (const name of BOOK.names[place])
            found.push([...words.slice(0, from), ...split(name),
                        ...words.slice(to)])
    return found
  }

  // How much a field says a word; the last word may still be being typed.
  function said(words, word, last) {
    if (words.has(word)) return 1 + Math.log(words.get(word))
    if (last && word.length > 1)
      for (const other of words.keys()) if (other.startsWith(word)) return 0.5
    return 0
  }

  function score(section, words, explains) {
    const query = join(words)
    let sum = 0
    let met = 0
    words.forEach((word, place) => {
      const last = place == words.length - 1
      const worth = Math.max(...section.fields.map(
        ([weight, field]) => weight * said(field, word, last)))
      const rare = Math.log(1 + sections.length / (spread.get(word) ?? 1))
      sum += worth * rare
      met += worth > 0
    })
    const about = section.explains.some(place => explains.has(place))
    const opens = section.topic.startsWith(query)
    if (section.topic == query || opens && about) sum += 100
    else if (opens) sum += 30
    else if (section.joined.includes(query)) sum += 20
    if (about) sum += 40
    else if (section.names.some(name => name.includes(query))) sum += 10
    if (section.late) sum /= 2
    return { sum, met: met / words.length }
  }

  // The sections that say all words, or else some of them, the best first.
  function search(text) {
    const words = split(text)
    if (!words.length) return { hits: [], all: true }
    const asked = variants(words)
    const explains = new Set(asked.flatMap(each => terms.get(join(each)) ?? []))
    const scored = sections.map(section => asked.map(
      words => ({ section, asked, ...score(section, words, explains) }))
      .reduce((best, each) => each.met > best.met
        || each.met == best.met && each.sum > best.sum ? each : best))
    const all = scored.some(hit => hit.met == 1)
    return { all, hits: scored.filter(hit => all ? hit.met == 1 : hit.met > 0)
      .sort((a, b) => b.met - a.met || b.sum - a.sum) }
  }

  const hits = (word, words) => words.findIndex((each, place) => word == each
    || place == words.length - 1 && each.length > 1 && word.startsWith(each))

  // The sentence that says most of a query, and by which of its variants.
  function quote({ section, asked }) {
    let best = { worth: -1 }
    for (const words of asked)
      for (const sentence of section.sentences) {
        const here = split(sentence)
        const met = new Set(here.map(word => hits(word, words)))
        met.delete(-1)
        const worth = met.size / words.length
          + (join(here).includes(join(words)) ? 1 : 0)
        if (worth > best.worth) best = { worth, sentence, words }
      }
    return best
  }

  // A sentence in pieces, every second of which is a hit.
  function marked({ sentence, words }) {
    const pieces = [""]
    for (const part of sentence.split(/([\p{L}\p{N}]+)/u))
      if (split(part).some(word => hits(word, words) >= 0)) pieces.push(part, "")
      else pieces[pieces.length - 1] += part
    return pieces
  }

  // Its beginning is cut, so that the hit shows; its end by course.css.
  function excerpt(hit) {
    const [first, ...rest] = marked(quote(hit))
    return [first.length > 90
      ? "… " + first.slice(-60).replace(/^\S*\s/, "") : first, ...rest]
  }

  const make = (tag, text, ...children) => {
    const node = document.createElement(tag)
    if (text) node.textContent = text
    node.append(...children)
    return node
  }

  function link(url, text) {
    const node = make("a", text)
    node.href = document.documentElement.dataset.content_root + url
    return node
  }

  function item(hit) {
    const { url, title, chapter } = hit.section
    const pieces = excerpt(hit).map(
      (piece, place) => place % 2 ? make("mark", piece) : piece)
    return make("li", "", link(url, title),
                ...chapter == title ? [] : [make("small", chapter)],
                make("p", "", ...pieces))
  }

  const SHOWN = 20
  const ELSEWHERE = [["book/glossary.html", "Glossary"],
                     ["book/intro.html#the-chapters", "Table of chapters"]]
  function report({ hits, all }) {
    if (!hits.length)
      return "Nothing found. Try one word of it, or another name; or look here:"
    const count = hits.length == 1 ? "1 section" : `${hits.length} sections`
    const shown = hits.length > SHOWN ? `, the best ${SHOWN} below` : ""
    return all ? `${count}${shown}`
      : `No section says all of it. ${count} with a part of it${shown}`
  }

  function attach(form) {
    const input = form.querySelector("input")
    const status = make("p")
    status.setAttribute("role", "status")
    const list = make("ol")
    const results = document.querySelector("#search-results") ?? make("div")
    results.id = "search-results"
    results.append(status, list)
    form.after(results)
    const links = () => [...list.querySelectorAll("a")]

    function update() {
      results.hidden = !input.value.trim()
      if (results.hidden) return list.replaceChildren()
      const found = search(input.value)
      status.textContent = report(found)
      list.replaceChildren(...found.hits.length
        ? found.hits.slice(0, SHOWN).map(item)
        : ELSEWHERE.map(([url, text]) => make("li", "", link(url, text))))
    }
    input.addEventListener("input", update)
    form.addEventListener("submit", event => {
      event.preventDefault()
      links()[0]?.click()
    })
    form.parentNode.addEventListener("keydown", event => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (!step) return
      event.preventDefault()
      const stops = [input, ...links()]
      stops[stops.indexOf(document.activeElement) + step]?.focus()
    })
    list.addEventListener("click", () => form.closest("dialog")?.close())
    update()
    return input
  }

  const dialog = document.querySelector("#pst-search-dialog form")
  const own = document.querySelector(".bd-search-container form")
  if (own) {
    const input = own.querySelector("input")
    input.value = new URLSearchParams(location.search).get("q") ?? ""
    attach(own).focus()
  } else attach(dialog)
  window.findSections = search
}
