"""How tests look at a page: light on a phone, dark on a desk, with axe-core."""

from axe_playwright_python.sync_playwright import Axe

from course.contents import parts

REMOTE = "git@github.com:ada/course.git"
REPOSITORY = "https://github.com/ada/course"
PUBLISHED = "https://ada.github.io/course/"
PAGES = [f"book/{page}" for _, names in parts() for page in names]
LOOKS = {"light": 390, "dark": 1280}            # a mode, and a width for it
STILL = "*, ::before, ::after { transition: none !important }"
# Formulas that are not typeset; those that end beyond their line, where nobody
# can see them; how much wider than its window a page is; formulas to scroll.
FAULTS = """() => [
    [...document.querySelectorAll(".math")]
        .filter(math => !math.querySelector("math > *")).length,
    [...document.querySelectorAll("article span.math math")]
        .filter(math => !math.closest("table") && math.checkVisibility()
            && math.getBoundingClientRect().right > innerWidth - 8).length,
    document.documentElement.scrollWidth
        - document.documentElement.clientWidth,
    [...document.querySelectorAll("div.math")]
        .filter(math => math.scrollWidth > math.clientWidth + 2).length]"""
# "region" is broken by the theme's own parts, whatever a page says.
AXE = {"preload": False, "resultTypes": ["violations"],
       "rules": {"region": {"enabled": False}}}
# After a change of width the theme gives what scrolls a tab stop, in a while.
READY = """mode => document.documentElement.dataset.theme == mode && [
    ...document.querySelectorAll(
        "pre, .cell_output > .output, .pst-scrollable-table-container")
    ].every(box => box.scrollWidth <= box.clientWidth || box.tabIndex >= 0)"""


def load_axe(tab):
    """Make axe-core ready for a page that stands still."""
    tab.evaluate(Axe().axe_script)
    tab.add_style_tag(content=STILL)


def violations(tab, where="document"):
    """[mode, rule, what breaks it] on a page that has loaded axe-core."""
    broken = []
    for mode, width in LOOKS.items():
        tab.emulate_media(color_scheme=mode)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_function(READY, arg=mode)
        result = tab.evaluate(f"rules => axe.run({where}, rules)", AXE)
        broken += [(mode, rule["id"], [node["html"] for node in rule["nodes"]])
                   for rule in result["violations"]]
    return broken
