"""How tests look at a page: widths, modes, and axe-core's rules in each."""

from contextlib import contextmanager, suppress

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import TimeoutError

from course.contents import parts

REMOTE = "git@github.com:ada/course.git"
REPOSITORY = "https://github.com/ada/course"
PUBLISHED = "https://ada.github.io/course/"
PAGES = [f"book/{page}" for _, names in parts() for page in names]
WIDTHS = 1280, 390
STILL = "*, ::before, ::after { transition: none !important }"

# What axe-core finds in the theme's own parts, whatever the page says.
THEME = "region",

# Colors take axe-core their time. A width does not change them, and a mode
# changes nothing else: colors at one width, contrast once a mode.
AXE = {"preload": False, "resultTypes": ["violations"],
       "rules": {rule: {"enabled": False} for rule in THEME}}
COLORS = "color-contrast", "link-in-text-block"
LOOKS = {                               # narrow first: the page is narrow now
    "narrow": (390, "light", AXE | {"rules": AXE["rules"] | {
        rule: {"enabled": False} for rule in COLORS}}),
    "wide": (1280, "light", AXE),
    "dark": (1280, "dark", AXE | {"runOnly": ["color-contrast"]}),
}

# After a change of width the theme gives what scrolls a tab stop, in a while.
SCROLLABLE = """() => {
    const boxes = [...document.querySelectorAll(
        "pre, .cell_output > .output, .pst-scrollable-table-container")]
    return boxes.every(
        box => box.scrollWidth <= box.clientWidth || box.tabIndex >= 0) }"""
THEME_NOW = "document.documentElement.dataset.theme"
TURNED = f"mode => {THEME_NOW} == mode"


@contextmanager
def listening(tab, **listeners):
    """Call `listeners[event]` whenever the page reports it."""
    for event, listener in listeners.items():
        tab.on(event, listener)
    yield
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)


def look_at(tab, look):
    """Turn to a width and a mode; -> the mode that the page is in then."""
    width, mode, _ = LOOKS[look]
    tab.emulate_media(color_scheme=mode)
    tab.set_viewport_size({"width": width, "height": 900})
    with suppress(TimeoutError):                   # then axe-core will tell
        tab.wait_for_function(SCROLLABLE, timeout=20_000)
    with suppress(TimeoutError):                   # then the mode will tell
        tab.wait_for_function(TURNED, arg=mode, timeout=20_000)
    return tab.evaluate(THEME_NOW)


def load_axe(tab):
    """Make axe-core ready for a page that stands still."""
    tab.evaluate(Axe().axe_script)
    tab.add_style_tag(content=STILL)


def violations(tab, rules, where="document"):
    """{rule: what breaks it} on a page that has loaded axe-core."""
    result = tab.evaluate(f"rules => axe.run({where}, rules)", rules)
    return {rule["id"]: [node["html"] for node in rule["nodes"]]
            for rule in result["violations"]}
