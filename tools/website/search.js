// Finds sections. BOOK stands above: the names of each term of the glossary,
// and the pages with their sections: anchor, title, terms explained, sentences,
// and other words that they say.
{
  const fold = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
  const typed = text => fold(text).match(/[\p{L}\p{N}]+/gu) ?? []
  // An ending tells nothing: heads, biases, splitting, stored, normalization.
  const ENDING = RegExp("(?<=\\p{L}{4})(ations?|ate[sd]?|ating|ings?|ies|e[sd]?|y"
    + "|(?<!s)s)$", "u")
  const stem = word => word.replace(ENDING, "").replace(/([bdgmnprt])\1$/, "$1")
  const split = text => typed(text).map(stem)
  const join = words => words.join("")         // pre-norm, pre norm, prenorm

  // Words that ask, and tell nothing.
  const ASKING = new Set(split(`a an and are be by can could do does for from has
    have how i in into is it its many me much my not of on or should that the
    their there this to use vs what when where which who why will with you`))
  function telling(words) {
    const left = words.filter(word => !ASKING.has(word))
    return left.length ? left : words
  }
  const topic = text => join(telling(split(text)))
  // What says again what other sections explain.
  const AGAIN = RegExp("/(bibliography|glossary|teaching_(chapters|lectures)) "
    + "| (Pitfalls|Exercises|Summary|References)$")

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
    ([anchor, title, explains, text, words]) => {
      const [about, question = ""] = title.replace(/^\d\d\. /, "").split(/:(.*)/)
      const names = explains.flatMap(place => BOOK.names[place])
      return {
        url: `${page}.html#${anchor}`, chapter, title, explains,
        sentences: text.split("\n"), again: AGAIN.test(`${page} ${title}`),
        topics: [about, ...about.split(/, | and /)].map(topic),
        fields: [[9, tally(about)], [5, tally(names.join(" | "))],
                 [4, tally(question)], [2, tally(chapter)],
                 [1, tally(`${text} ${words}`)]],
      }
    }))
  const spread = new Map()
  for (const { fields } of sections)
    for (const word of new Set(fields.flatMap(([, words]) => [...words.keys()])))
      spread.set(word, (spread.get(word) ?? 0) + 1)
  const rare = word => Math.log(1 + sections.length / (spread.get(word) ?? 1))
  const begun = new Map()                      // a beginning -> its words
  function begins(word) {
    if (!begun.has(word))
      begun.set(word, [...spread.keys()].filter(each => each.startsWith(word)))
    return begun.get(word)
  }
  const known = word => begins(word).length > 0

  // The query, with words of it joined, and with a term by its other names.
  function variants(query) {
    const words = query.map(stem)
    const found = [words]
    for (let from = 0; from < words.length; from++)
      for (let to = from + 1; to <= words.length; to++) {
        const put = other =>
          found.push([...words.slice(0, from), ...other, ...words.slice(to)])
        const joined = stem(join(query.slice(from, to)))
        if (spread.has(joined)) put([joined])
        for (const place of terms.get(join(words.slice(from, to))) ?? [])
          for (const name of BOOK.names[place]) put(split(name))
      }
    return found
  }

  // How much a field says a word; the last word may still be being typed.
  function said(words, word, last) {
    if (words.has(word)) return 1 + Math.log(words.get(word))
    return last && word.length > 1
      && begins(word).some(other => words.has(other)) ? 0.5 : 0
  }

  // A word counts as it is rare; a section that misses some counts less.
  function score(section, words, explains) {
    const query = join(words)
    let [sum, met, all] = [0, 0, 0]
    words.forEach((word, place) => {
      const last = place == words.length - 1
      const worth = Math.max(...section.fields.map(
        ([weight, field]) => weight * said(field, word, last)))
      sum += worth * rare(word)
      met += (worth > 0) * rare(word)
      all += rare(word)
    })
    const share = met / all
    let worth = sum / all
    const about = section.explains.some(place => explains.has(place))
    if (about) worth += 8
    if (section.topics.includes(query)
        || about && section.topics[0].startsWith(query)) worth += 20
    if (section.again) worth /= 2
    return { worth: worth * share ** 2, all: share == 1 }
  }

  // The sections that say all words, and those that nearly do, the best first.
  // A word that no section says is left out.
  function search(text) {
    const query = typed(text)
    if (!query.length) return { hits: [], all: true }
    const asked = variants(query)
    const explains = new Set(asked.flatMap(each => terms.get(join(each)) ?? []))
    const told = asked.map(telling)
    const tried = told.map(words => words.filter(known))
      .filter(words => words.length)
    const scored = !tried.length ? [] : sections.map(section => tried.map(
      words => ({ section, asked: tried, ...score(section, words, explains) }))
      .reduce((best, each) => each.worth > best.worth ? each : best))
    const least = Math.max(...scored.map(hit => hit.worth)) / 20
    const hits = scored.filter(hit => hit.all || hit.worth > least)
      .sort((a, b) => b.worth - a.worth)
    return { hits, all: told[0].every(known) && hits.some(hit => hit.all) }
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

  // Its beginning is cut, so that a hit shows; its end by course.css.
  function excerpt(hit) {
    const [first, ...rest] = marked(quote(hit))
    return [rest.length && first.length > 90
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
