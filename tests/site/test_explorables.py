"""Explorables show the numbers of their chapters, and everybody can move them.

Each stands in a page of its own: what its extension writes for the notebook,
with its scripts and its style sheet. test_pages.py sees them in the book.
"""

import math
import re
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
from nbformat import v4, write
from sphinx.application import Sphinx

from course.chapter import Chapter, functions
from course.paths import BOOK, ROOT
from tests.site.test_notebook_cells import PYTHON
from tests.support.sample import code as code_cell
from tools.website import explorables

STATIC = BOOK / "_static"
PAGES = {each.script: (page, each)
         for page, those in explorables.EXPLORABLES.items() for each in those}
SCRIPTS = sorted((STATIC / "explorables").glob("*.js"))
SAID = "document.querySelector('.said').textContent"
SET = """states => states.map(state => {
    for (const label of document.querySelectorAll("label"))
        if (label.textContent in state) {
            label.control.value = state[label.textContent]
            label.control.dispatchEvent(new Event("input")) }
    return document.querySelector(".said").textContent })"""
TOO_SMALL = """() => {
    const small = []
    for (const text of document.querySelectorAll("svg text")) {
        const { a } = text.getScreenCTM()
        if (a * parseFloat(getComputedStyle(text).fontSize) < 9)
            small.push(text.textContent) }
    for (const target of document.querySelectorAll(
            "input, select, button, .reach")) {
        const { width, height } = target.getBoundingClientRect()
        if (Math.min(width, height) < 24) small.push(target.outerHTML) }
    return small }"""

each_explorable = pytest.mark.parametrize("script", PAGES)


def source(script):
    page, explorable = PAGES[script]
    return Chapter(ROOT / f"{page}.ipynb").notebook, explorable


def cell(script, name):
    return next(cell for cell in source(script)[0].cells if cell.id == name)


def output(script, name):
    return "".join(part.text for part in cell(script, name).outputs)


def own(script, name):
    """A number that the page hands to its explorable."""
    chapter, explorable = source(script)
    where = dict(map(reversed, explorable.numbers))[name]
    return np.array(explorables.evaluate(chapter, where, name))


def numbers(text):
    return [float(each) for each in re.findall(
        r"-?\d+(?:\.\d*)?(?:e-\d+)?", text.replace("−", "-"))]


@pytest.fixture(scope="module")
def pages(browser):
    """Explorables by name, each in a tab as wide as a phone, as on the site."""
    context = browser.new_context(viewport={"width": 390, "height": 900})
    context.clock.install(time=0)
    context.clock.pause_at(1)                   # time goes on when told
    tabs = {}
    for script in PAGES:
        chapter, explorable = source(script)
        tabs[script] = tab = context.new_page()
        html = explorables.markup(explorable, chapter)
        tab.set_content(f"<body style='margin: 16px'>{html}")   # as there
        tab.add_style_tag(path=STATIC / "explorables.css")
        for name in ("shared", script):
            tab.add_script_tag(path=STATIC / "explorables" / f"{name}.js")
    return tabs


@pytest.fixture
def said(pages):
    """What an explorable says in states that its labels name: said(script)."""
    def ask(script, *states):
        return pages[script].evaluate(SET, states)
    return ask


def test_bits_decode_as_the_chapter_does(said):
    chapter = functions("01")
    formats = {"toy, 6 bits": (6, lambda code: chapter.decode(code, 3, 2)),
               "e4m3, 8 bits": (8, chapter.decode_e4m3),
               "e5m2, 8 bits": (8, lambda code: chapter.decode(code, 5, 2))}
    for name, (bits, value) in formats.items():
        said("bits", {"format": name})
        for code, text in enumerate(said(
                "bits", *({"code": code} for code in range(2**bits)))):
            want = value(code)
            if not math.isfinite(want):
                assert f"is {'−' * (want < 0)}{'∞'}." in text if (
                    math.isinf(want)) else "is NaN." in text
                continue
            away = value(code + 1)              # the next number, or its place
            if not math.isfinite(away):
                away = 2 * want - value(code - 1)
            shown, ulp = text.split(" = ")[-1].split("One ulp is ")
            assert numbers(shown)[0] == pytest.approx(want, rel=1e-6)
            assert numbers(ulp)[0] == pytest.approx(abs(away - want), rel=1e-6)


def test_bits_by_hand(said):
    table = re.findall(r"`([01 ]+)` \| ([\d, ]+) \| .*?=(\d+|\\tfrac1\{16\})\$",
                       cell("bits", "formats").source)
    said("bits", {"format": "toy, 6 bits"})
    assert len(table) == 3
    for bits, fields, value in table:
        [text] = said("bits", {"code": int(bits.replace(" ", ""), 2)})
        S, E, M = fields.split(", ")
        assert text.startswith(f"{bits}: S = {S}, E = {E}, M = {M}. ")
        assert f" = {0.0625 if '16' in value else value}. One ulp" in text
    largest = dict(re.findall(r"(?m)^(e\dm\d) .* (\d+) +\S+$",
                              output("bits", "decode")))
    for name, code in (("e4m3", 126), ("e5m2", 123)):
        said("bits", {"format": f"{name}, 8 bits"})
        [text] = said("bits", {"code": code})
        assert f" = {largest[name]}. " in text


def test_a_token_is_standardized_as_in_the_chapter(said, pages):
    chapter, x_hat = functions("04"), own("plane", "x_hat")
    for a in (0.4, 1, 1.6, -0.8):           # three of the figure's, one turned
        for c in (-1, 0.7):
            token = a * x_hat + c
            [text] = said("plane", {"direction": 0, "factor a": a,
                                    "offset c": c})
            want = [*token, token.mean(), token.std(),
                    *chapter.standardize(token)]
            assert numbers(text) == pytest.approx(want, abs=0.0051)
    [constant] = said("plane", {"factor a": 0})
    assert "constant token" in constant


def test_the_output_is_drawn_on_the_circle(said, pages):
    said("plane", {"direction": 0, "factor a": 1.6, "offset c": 0.7})
    drawn = pages["plane"].locator("circle.behind").evaluate_all(
        "dots => dots.map(dot => [+dot.getAttribute('cx'), "
        "+dot.getAttribute('cy')])")
    circle = pages["plane"].locator("circle.line")
    cx, cy, r = (float(circle.get_attribute(name))
                 for name in ("cx", "cy", "r"))
    u, v = own("plane", "across") @ own("plane", "x_hat") / math.sqrt(3)
    assert drawn[0] == pytest.approx([cx + r * u, cy - r * v])


def test_weights_and_answers_are_those_of_the_chapter(said):
    rows = re.findall(r"(?m)^ +(\d+)  (\[.*?\]) +(\[.*?\])",
                      output("triangle", "sharpen"))
    assert [row[0] for row in rows] == ["1", "2", "5", "20"]
    for factor, weights, answer in rows:
        [text] = said("triangle", {"turned by": 0, "factor": factor})
        shown = numbers(text.partition("Weights")[2])
        assert shown == pytest.approx(numbers(weights) + numbers(answer),
                                      abs=1e-9)
    K, V, q = (own("triangle", name) for name in "KVq")
    for degrees in range(0, 360, 40):
        angle = math.radians(degrees)
        turn = np.array([[math.cos(angle), -math.sin(angle)],
                         [math.sin(angle), math.cos(angle)]])
        query = 1.5 * turn @ q
        [text] = said("triangle", {"turned by": degrees, "factor": 1.5})
        want = [*K @ query, *functions("08").softmax(K @ query),
                *functions("08").soft_match(query, K, V)]
        assert numbers(text) == pytest.approx(want, abs=0.0051)


def test_scores_are_those_of_the_chapter(said):
    printed = re.findall(r"(?:query )?(\d+) to (?:key )?(\d+) (-?[\d.]+)",
                         output("rotation", "rope-run"))
    added, rotated = printed[:3], printed[3:]
    assert len(rotated) == 3
    for (i, j, sinusoids), (*_, rope) in zip(added, rotated, strict=True):
        [text] = said("rotation", {"query position i": i, "key position j": j})
        assert numbers(text)[3:] == [float(rope), float(sinusoids)]
    chapter = functions("10")
    P = chapter.sinusoids(40, 16)
    cos, sin = chapter.rope_tables(range(40), 16)
    Q, K = (np.tile(own("rotation", name), (40, 1)) for name in "qk")
    added = (Q + P) @ (K + P).T
    rotated = chapter.rope_interleaved(Q, cos, sin) @ (
        chapter.rope_interleaved(K, cos, sin).T)
    places = [(i, j) for i in (0, 1, 7, 39) for j in (0, 3, 38)]
    for (i, j), text in zip(places, said("rotation", *(
            {"query position i": i, "key position j": j}
            for i, j in places)), strict=True):
        assert numbers(text) == pytest.approx(
            [i, j, i - j, rotated[i, j], added[i, j]], abs=0.051)


def test_tokens_are_kept_as_in_the_chapter(said):
    chapter = functions("15")
    rows = {"four tokens, by hand": np.exp(own("sampling", "logits")),
            "peaked": own("sampling", "steep"), "flat": own("sampling", "flat")}
    for T, shares in re.findall(r"T = +([\d.]+): .*\(15\.1\) (\[.*\])",
                                output("sampling", "sample-run")):
        [text] = said("sampling", {"distribution": "four tokens, by hand",
                                   "temperature T": T})
        assert numbers(text)[1:5] == numbers(shares)
    for name, row in rows.items():
        said("sampling", {"distribution": name})
        for T in (0.5, 1, 2):
            logits = np.log(row) / T
            for k, p in ((1, 0.8), (2, 0.65), (3, 0.8), (4, 0.85)):
                [text] = said("sampling", {
                    "temperature T": T, "top-k: k": k, "top-p: p": p})
                by_p, by_k = re.findall(r"(\d+) by", text)
                assert int(by_p) == np.isfinite(
                    chapter.keep_top_p(logits, p)).sum()
                assert int(by_k) == np.isfinite(
                    chapter.keep_top_k(logits, k)).sum()


def test_the_row_of_two_distributions_is_that_of_the_figure(said):
    told = cell("sampling", "sample-figure").metadata["mystnb"]["image"]["alt"]
    count = {word: i for i, word in enumerate(
        "none one two three four five six seven".split())}
    flat = re.search(r"flat.*top-p keeps (\w+) tokens, top-k (\w+)", told)
    [text] = said("sampling", {"distribution": "flat", "temperature T": 1,
                               "top-k: k": 3, "top-p: p": 0.8})
    assert re.findall(r"(\d+) by", text) == [
        str(count[word]) for word in flat.groups()]


def test_cycles_are_those_of_the_chapter(said):
    names = "tokens in line", "chunks C", "columns K"

    def shown(*state):
        [text] = said("units", dict(zip(names, state, strict=True)))
        return numbers(text), text

    assert shown(1, 4, 4)[0][:3] == numbers(output("units", "deferred-program"))
    tokens, saved = output("units", "overlap").splitlines()
    for B, share in zip(numbers(tokens)[1:], numbers(saved), strict=True):
        if B <= 8:
            assert shown(B, 4, 4)[0][3] == share
    chapter = functions("22")
    makes = (chapter.waiting_tasks, chapter.chunkwise_tasks,
             chapter.deferred_tasks)
    for state in ((1, 1, 1), (2, 3, 5), (3, 5, 2), (8, 1, 4), (5, 2, 1)):
        B, C, K = state
        want = [chapter.cycles(chapter.several(make, C, K, B))
                for make in makes]
        found, text = shown(*state)
        assert found[:3] == want
        assert ("costs" if want[2] > want[0] else "saves") in text


@each_explorable
def test_its_figure_stands_without_it(script):
    chapter, explorable = source(script)
    assert any("image/png" in part.get("data", {})
               for part in cell(script, explorable.figure).outputs)
    assert explorables.markup(explorable, chapter).partition(">")[0].endswith(
        "hidden")


@each_explorable
def test_it_gives_no_prediction_away(script):
    chapter, explorable = source(script)
    ids = [cell.id for cell in chapter.cells]
    behind = ids.index(explorable.behind or explorable.figure)
    assert behind >= ids.index(explorable.figure)
    for cell in chapter.cells[behind:]:
        if cell.source.startswith("## "):
            break
        assert "**Predict" not in cell.source


@each_explorable
def test_it_is_moved_by_keys_and_says_so_after_a_pause(pages, script):
    tab = pages[script]
    before = tab.evaluate(SAID)
    for control in tab.get_by_role("slider").all():
        control.focus()
        values = []
        for key in ("Home", "ArrowRight", "ArrowRight"):
            tab.keyboard.press(key)
            values.append(control.get_attribute("aria-valuetext"))
        assert len(set(values)) == 3
        assert control.evaluate("input => input.labels.length") == 1
    now = tab.evaluate(SAID)
    assert now != before
    tab.clock.run_for(400)
    assert tab.get_by_role("status").inner_text() != now
    tab.clock.run_for(600)
    assert tab.get_by_role("status").inner_text() == now


def test_bits_and_steps_are_buttons(pages, said):
    said("bits", {"format": "toy, 6 bits"}, {"code": 0})
    bit = pages["bits"].get_by_role("button", name="exponent bit worth 4")
    bit.press("Enter")
    assert bit.get_attribute("aria-pressed") == "true"
    assert "E = 4" in pages["bits"].evaluate(SAID)
    said("rotation", {"query position i": 38, "key position j": 3})
    for name, want in (("both + 1", [39, 4]), ("both + 1", [39, 4]),
                       ("both − 1", [38, 3]), ("exchange i and j", [3, 38])):
        pages["rotation"].get_by_role("button", name=name).press("Space")
        assert numbers(pages["rotation"].evaluate(SAID))[:2] == want


@pytest.mark.parametrize("script, start", [
    ("plane", {"direction": 0, "factor a": 0.8, "offset c": 0}),
    ("triangle", {"turned by": 0, "factor": 0.5})])
def test_a_point_is_dragged_and_the_page_still_scrolls(
        pages, said, script, start):
    tab = pages[script]
    said(script, start)
    tab.bring_to_front()                        # mice wait for frames
    for handle in tab.locator(".handle").all():
        before = tab.evaluate(SAID)
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        tab.mouse.move(x, y)
        tab.mouse.down()
        tab.mouse.move(x + 20, y - 25)
        tab.mouse.up()
        assert tab.evaluate(SAID) != before
        moved = handle.bounding_box()
        assert moved["x"] - box["x"] == pytest.approx(20, abs=3)
        assert moved["y"] - box["y"] == pytest.approx(-25, abs=3)
        after = tab.evaluate(SAID)
        tab.mouse.move(x + 25, y - 32)          # let go: it stays
        assert tab.evaluate(SAID) == after
    assert tab.locator("svg").evaluate(
        "svg => [svg, svg.querySelector('.handle')].map("
        "node => getComputedStyle(node).touchAction)") == ["auto", "none"]


@each_explorable
def test_on_a_phone_it_can_be_read_and_touched(pages, script):
    assert pages[script].evaluate(TOO_SMALL) == []


@each_explorable
def test_on_paper_the_figure_is_alone(pages, script):
    box = pages[script].locator(".explorable")
    assert box.is_visible()
    pages[script].emulate_media(media="print")
    assert not box.is_visible()
    pages[script].emulate_media(media="screen")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_small_and_in_use(path):
    assert path.stat().st_size <= 8000
    assert path.stem in {"shared", *PAGES}


def test_nothing_moves_by_itself():
    for path in (*SCRIPTS, STATIC / "explorables.css"):
        assert not re.search("AnimationFrame|setInterval|anim|transition",
                             path.read_text("utf-8")), path.name


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A page with an explorable, some that lack something, and one without."""
    folder = tmp_path_factory.mktemp("moved")
    figure = code_cell("x = np.arange(3) + shift\nfig = None", name="figure")
    cells = [v4.new_markdown_cell("# A page"),
             code_cell("def double(x):\n    return 2 * x", name="function"),
             code_cell("shift = double(5)\nx = 0\nundefined()\n"
                       "x = np.eye(2) + shift", name="numbers"), figure]
    of = explorables.Explorable("name", "figure", "A <title>", "a = b", "c",
                                (("numbers", "x"),))
    table = {"index": of, "figureless": of._replace(figure="gone"),
             "cell": of._replace(numbers=(("gone", "x"),)),
             "nameless": of._replace(numbers=(("numbers", "gone"),))}
    for page in (*table, "plain"):
        write(v4.new_notebook(cells=cells, metadata=PYTHON),
              folder / f"{page}.ipynb")
    (folder / "explorables").mkdir()
    for script in ("shared", "name"):
        (folder / "explorables" / f"{script}.js").write_text("", "utf-8")
    warnings = StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explorables, "EXPLORABLES", {
            page: [each] for page, each in (table | {"away": of}).items()})
        Sphinx(folder, None, folder / "html", folder / "trees", "html", {
            "extensions": ["myst_nb", "tools.website.explorables"],
            "nb_execution_mode": "off", "html_static_path": ["explorables"],
            "html_theme": "basic"},
            status=None, warning=warnings).build()
    return SimpleNamespace(warnings=warnings.getvalue(), **{
        page: (folder / "html" / f"{page}.html").read_text("utf-8")
        for page in ("index", "plain")})


def test_an_explorable_has_the_numbers_of_its_page(built):
    [box] = re.findall(r'(?s)<div class="explorable".*?</div>', built.index)
    assert 'data-numbers="{&quot;x&quot;: [[11.0, 10.0], [10.0, 11.0]]}"' in box
    assert "A &lt;title&gt;" in box and "a&nbsp;=&nbsp;b" in box
    assert built.index.index(">None<") < built.index.index(box)


def test_only_its_page_loads_a_script(built):
    for script in ("shared", "name"):
        [tag] = re.findall(rf"<script[^>]*/{script}\.js[^>]*>", built.index)
        assert "defer" in tag
        assert f"{script}.js" not in built.plain
    assert built.index.index("shared.js") < built.index.index("name.js")


def test_what_an_explorable_lacks_is_a_warning(built):
    for page, missing in (("figureless", "'gone'"), ("cell", "'gone'"),
                          ("nameless", "'gone'")):
        assert re.search(f"{page}.*WARNING: explorable name: the page has no "
                         f"{missing}", built.warnings)
    assert "explorables: there is no page away" in built.warnings
    assert built.warnings.count("WARNING: explorable") == 4
