"""Pages that load what they show, and nothing else.

When the site is written, each page loses the scripts that nothing on it uses;
the theme's style sheets become one, with the rules and the icons in use; and
pictures become WebP, with their size, loaded when they are near.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from html import unescape
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from PIL import Image
from sphinx.util import logging

# What nothing in this book uses.
UNUSED = ("thebe", "togglebutton", "sphinx-design", "design-tabs",
          "fontawesome.js", "sphinx_highlight.js", "searchtools.js",
          "language_data.js", "searchindex.js")
SHEET = re.compile(r'\s*<link[^>]*href="([^"?]*\.css)[^"]*"[^>]*>')
SCRIPT = re.compile(r'\s*<script(?P<how>[^>]*)\bsrc="(?P<src>[^"?]*)[^"]*"'
                    r"[^>]*></script>")
PRELOAD = re.compile(r'\s*<link rel="preload" as="script"[^>]*>')
SETTING = re.compile(r"\s*<script>[^<]*</script>")        # of an unused script
PICTURE = re.compile(r'<img(?P<attributes>[^>]*?)\s*/?>')
ICON = re.compile(r"((?:\.fa-[\w-]+(?:::?before)?,)*\.fa-[\w-]+"
                  r'(?:::?before)?)\{(?:--fa|content):"([^"]*)"[^}]*\}')
TEXT = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
TOKEN = re.compile(rf"url\({TEXT}\)|url\([^)]*\)|{TEXT}|[{{}};]", re.DOTALL)
# The theme measures every <pre> at once, also those that no browser has laid
# out yet, to make it a stop of the Tab key where it scrolls. One by one, when
# there is nothing else to do, is soon enough.
MEASURE = ("e.tabIndex=e.scrollWidth>e.clientWidth||"
           "e.scrollHeight>e.clientHeight?0:-1")
AT_ONCE = "function I(){const e=()=>{", f"e=>{{{MEASURE}}}"
IDLE = ("function I(){const q=[],w=window.requestIdleCallback||setTimeout,"
        f"n=()=>w(()=>{{const e=q.shift();{MEASURE};q.length&&n()}}),e=()=>{{",
        "e=>{q.push(e)>1||n()}")
# Without colors until its script has run, a page would be laid out twice.
UNKNOWN = 'localStorage.getItem("theme") || "auto"'
KNOWN = """(/light|dark/.exec(document.documentElement.dataset.mode) ||
        [matchMedia("(prefers-color-scheme: dark)").matches ? "dark"
            : "light"])[0]"""
THEME = "_static/scripts/pydata-sphinx-theme.js"
FONTS = "fa-solid-900", "fa-brands-400", "fa-regular-400"

logger = logging.getLogger(__name__)


def rules(css):
    """The rules at the top level of a style sheet: (selector, body or None)."""
    depth = start = at = 0
    for token in TOKEN.finditer(css):
        if token[0] == "{":
            depth += 1
            if depth == 1:
                selector, at = css[start:token.start()].strip(), token.end()
        elif token[0] == "}":
            depth -= 1
            if depth == 0:
                yield selector, css[at:token.start()]
                start = token.end()
        elif token[0] == ";" and depth == 0:
            yield css[start:token.start()].strip(), None
            start = token.end()


def selectors(group):
    """The selectors of `a, b:is(c, d)`: two."""
    depth, one = 0, ""
    for letter in group:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            yield one.strip()
            one = ""
        else:
            one += letter
    yield one.strip()


def alive(selector, used):
    """Can a selector meet anything? Each class and id that it needs is used."""
    needed = re.sub(r":not\([^)]*\)|\[[^\]]*\]|:is\([^)]*\)|:where\([^)]*\)",
                    "", selector)
    return all(name.replace("\\", "") in used for name in
               re.findall(r"[.#](-?[A-Za-z_](?:[\w-]|\\.)*)", needed))


def purge(css, used):
    """A style sheet without the rules that cannot meet anything."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    kept = []
    for selector, body in rules(css):
        if body is None:
            if not selector.startswith(("@charset", "@import")):
                kept.append(f"{selector};")
        elif selector.startswith(("@media", "@supports", "@layer")):
            if inside := purge(body, used):
                kept.append(f"{selector}{{{inside}}}")
        elif selector.startswith("@"):
            kept.append(f"{selector}{{{body}}}")
        elif living := [each for each in selectors(selector)
                        if alive(each, used)]:
            kept.append(f"{','.join(living)}{{{body}}}")
    return "".join(kept)


def icons(css, used, webfonts):
    """Keep the rules of icons in use; cut the fonts to these. -> css"""
    points = set()

    def keep(rule):
        if not used & set(re.findall(r"fa-[\w-]+", rule[1])):
            return ""
        sign = rule[2]
        points.add(int(sign[1:], 16) if sign.startswith("\\") else ord(sign))
        return rule[0]

    css = ICON.sub(keep, css)
    points |= {int(point, 16) for point in
               re.findall(r'content:\s*"\\(f[0-9a-f]{3})"', css)}
    for name in FONTS:
        source = webfonts / f"{name}.ttf"
        if not source.exists():                    # cut by an earlier build
            continue
        font = TTFont(source, recalcTimestamp=False)
        cutter = subset.Subsetter(subset.Options(
            layout_features=[], drop_tables=["GSUB", "GPOS", "FFTM"]))
        cutter.populate(unicodes=points)
        cutter.subset(font)
        font.flavor = "woff2"
        font.save(webfonts / f"{name}.woff2")
        source.unlink()
    return css


def bundle(out, pages):
    """All style sheets of the pages as one file; its name is returned.

    Pages that an earlier build has written link to its file alone.
    """
    linked = dict.fromkeys(
        sheet[sheet.index("_static"):] for page in pages.values()
        for sheet in SHEET.findall(page)
        if "_static" in sheet and not any(each in sheet for each in UNUSED))
    earlier = sheets(out) if [*(out / "_static").glob("site-*.css")] else []
    names = dict.fromkeys(name for name in [*earlier, *linked]
                          if not name.startswith("_static/site-"))
    scripts = "".join(path.read_text()
                      for path in (out / "_static").rglob("*.js")
                      if not any(each in path.name for each in
                                 (*UNUSED, "finding.js")))
    used = set(re.findall(r"[\w-]+", "".join(pages.values()) + scripts))
    texts = []
    for sheet in names:
        css = (out / sheet).read_text()
        folder = Path(sheet).parent
        css = re.sub(r'@import "(\.\./)?basic\.css";?',
                     lambda _: (out / "_static/basic.css").read_text(), css)
        css = re.sub(r"url\(['\"]?(?!data:|https?:|/|#)([^)'\"]*)['\"]?\)",
                     lambda url, folder=folder: "url({})".format(
                         (folder / url[1]).as_posix().removeprefix("_static/")),
                     css)
        texts.append(css)
    css = icons("".join(texts), used,
                out / "_static/vendor/fontawesome/webfonts")
    css = re.sub(r"\s*\n\s*", "", purge(css, used))
    css = f"/* {' '.join(names)} */{css}"
    name = f"_static/site-{sha256(css.encode()).hexdigest()[:8]}.css"
    for old in (out / "_static").glob("site-*.css"):
        old.unlink()
    (out / name).write_text(css)
    return name


def sheets(out):
    """The complete style sheets that the site's one was made of, in order."""
    [path] = (out / "_static").glob("site-*.css")
    return path.read_text().partition(" */")[0].split()[1:]


def size(path):
    """Width and height of a picture in pixels, or of a drawing in its units."""
    if path.suffix == ".svg":
        box = re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', path.read_text())
        return round(float(box[1])), round(float(box[2]))
    with Image.open(path) as image:
        return image.size


def shrink(path):
    """Write a picture as WebP beside it, once."""
    small = path.with_suffix(".webp")
    if not small.exists():
        with Image.open(path) as image:
            image.save(small, "WEBP", lossless=True, method=2)


def picture(found, page, out):
    """An <img> that waits, with its size, as WebP where that is smaller.

    A plot leads to itself: on a phone, its letters are small until a tap.
    """
    tag = found["attributes"]
    if 'loading="lazy"' in tag:                    # written by an earlier build
        return found[0]
    source = re.search(r'src="([^"]*)"', tag)
    path = (page.parent / unescape(source[1])) if source else None
    if not path or "_images" not in source[1] or not path.exists():
        return found[0]
    wide, high = size(path)
    if path.suffix == ".png":
        small = path.with_suffix(".webp")
        if small.stat().st_size < path.stat().st_size:
            tag = tag.replace(path.name, small.name)
    if " width=" not in tag:
        tag += f' width="{wide}" height="{high}"'
    image = f'<img{tag} loading="lazy" decoding="async">'
    if path.suffix == ".svg":
        return image
    address = re.search(r'src="([^"]*)"', tag)[1]
    return f'<a class="plot" href="{address}">{image}</a>'


def slim(html, page, out, sheet):
    """A page with one style sheet and the scripts that it uses, deferred."""
    up = "../" * (len(page.relative_to(out).parts) - 1)

    def script(found):
        name = found["src"].rpartition("/")[2]
        if any(each in name for each in UNUSED):
            return ""
        return found[0] if "defer" in found["how"] else \
            found[0].replace("<script", "<script defer", 1)

    html = SHEET.sub(lambda found: "" if "_static" in found[1] else found[0],
                     html)
    html = html.replace("</title>", f'</title>\n<link rel="stylesheet" '
                        f'href="{up}{sheet}">', 1)
    html = PRELOAD.sub("", SCRIPT.sub(script, html))
    html = SETTING.sub("", html.replace(UNKNOWN, KNOWN))
    html = re.sub(r'<span class="(?:n|p|w|nn)">([^<]*)</span>', r"\1", html)
    return PICTURE.sub(lambda found: picture(found, page, out), html)


def wait_until_idle(script):
    """The theme's script, which lets a reader read before it measures."""
    for old, new in zip(AT_ONCE, IDLE, strict=True):
        if new not in script:
            if old not in script:
                logger.warning("light: the theme measures in another way: %s",
                               old)
            script = script.replace(old, new)
    return script


def lighten(app, error):
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    pages = {path: path.read_text() for path in out.rglob("*.html")
             if "_static" not in path.parts}
    with ThreadPoolExecutor() as workers:
        for _ in workers.map(shrink, (out / "_images").glob("*.png")):
            pass
    theme = out / THEME
    theme.write_text(wait_until_idle(theme.read_text()))
    sheet = bundle(out, pages)
    for path, html in pages.items():
        if "<head>" in html:
            path.write_text(slim(html, path, out, sheet))


def setup(app):
    app.connect("build-finished", lighten, priority=900)
    return {"parallel_read_safe": True}
