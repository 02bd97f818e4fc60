// Arrow keys, Space, Page and Home and End move; o shows all; s opens the
// speaker's window. A finger moves them, too. #7 in the address is slide 7.
"use strict"
const slides = [...document.querySelectorAll(".slide")]
let now = 0, speaker = null, begun = 0

const fit = () => document.body.style.setProperty("--fit",
    Math.min(innerWidth / 1280, innerHeight / 720))

const show = () => {
    now = Math.min(Math.max(+location.hash.slice(1) - 1 || 0, 0),
                   slides.length - 1)
    slides.forEach((slide, at) => slide.classList.toggle("now", at == now))
    tell() }

const go = to => {
    if (to >= 0 && to < slides.length) location.replace(`#${to + 1}`) }

const overview = all => {
    document.body.className = all ? "all" : "one"
    if (all) slides[now].scrollIntoView({block: "center"}) }

const tick = () => {
    if (!speaker || speaker.closed) return
    const seconds = Math.floor((Date.now() - begun) / 1000)
    speaker.document.querySelector("time").textContent =
        `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` }

// The window has no address: it is written from here, and works from a file.
const tell = () => {
    if (!speaker || speaker.closed) return
    const page = speaker.document, slide = slides[now]
    const made = (name, kind, ...inside) => {
        const node = page.createElement(name)
        node.className = kind
        node.append(...inside)
        return node }
    const copy = node => page.importNode(node, true)
    const walls = made("div", "walls", made("p", "", "now"), copy(slide))
    if (slides[now + 1])
        walls.append(made("p", "", "next"), copy(slides[now + 1]))
    page.body.replaceChildren(
        made("header", "", made("time", ""),
            made("span", "", `slide ${now + 1} of ${slides.length}`),
            made("span", "", `planned from ${slide.dataset.begins}, for `
                + slide.dataset.takes)),
        walls, copy(slide.querySelector(".notes")))
    for (const notes of page.querySelectorAll(".slide .notes")) notes.remove()
    speaker.scrollTo(0, 0)
    tick() }

const speak = () => {
    speaker = open("", "speaker", "width=1100,height=760")
    if (!speaker) return                     // the browser forbids windows
    const page = speaker.document
    page.title = `Notes: ${document.title}`
    page.head.replaceChildren(page.head.querySelector("title"),
        ...[...document.querySelectorAll("style")].map(
            style => page.importNode(style, true)))
    page.body.className = "speaker"
    speaker.onkeydown = press
    begun ||= Date.now()
    tell() }

const KEYS = {
    ArrowRight: () => go(now + 1), ArrowDown: () => go(now + 1),
    PageDown: () => go(now + 1), " ": () => go(now + 1),
    ArrowLeft: () => go(now - 1), ArrowUp: () => go(now - 1),
    PageUp: () => go(now - 1),
    Home: () => go(0), End: () => go(slides.length - 1),
    o: () => overview(document.body.className != "all"),
    Enter: () => overview(false), Escape: () => overview(false), s: speak}

const press = event => {
    const act = KEYS[event.key]
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    act() }

let from = null
addEventListener("touchstart", event => {
    from = event.touches.length == 1 ? event.touches[0].clientX : null })
addEventListener("touchend", event => {
    if (from === null || document.body.className == "all") return
    const moved = event.changedTouches[0].clientX - from
    if (Math.abs(moved) > 50) go(now + (moved < 0 ? 1 : -1)) })
addEventListener("click", event => {
    if (document.body.className != "all") return
    const slide = event.target.closest(".slide")
    if (slide) { go(slides.indexOf(slide)); overview(false) } })
addEventListener("keydown", press)
addEventListener("resize", fit)
addEventListener("hashchange", show)
setInterval(tick, 1000)
fit()
overview(false)
show()
