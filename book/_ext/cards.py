"""How a page looks where it is found or shared: its description and its card.

A card shows the title and the page's first figure, a chapter's schematic, or
else its description. Its address has to be complete, so there are cards where
the site's is known.
"""

import re
from html import escape, unescape
from pathlib import Path
from textwrap import shorten, wrap

import matplotlib
from docutils import nodes
from PIL import Image, ImageDraw, ImageFont, ImageOps

FORMULA = "\0"
SENTENCE = re.compile(r"(?<=[.?!])\s+")
MOST = 160                            # characters that search engines show
CARD = 1200, 630
INK, BLUE = "#1f2933", "#00659e"      # as in the drawing of the front page
SAID = re.compile(r'<meta property="og:(\w+)" content="([^"]*)"')
FIGURE = re.compile(r"_images/([0-9a-f]{64})\.")


def opening(doctree):
    """The text of a page's first paragraph, with a mark for each formula."""
    paragraph = doctree.next_node(nodes.paragraph)
    parts = paragraph.children if paragraph else []
    return " ".join("".join(
        FORMULA if isinstance(part, nodes.math) else part.astext()
        for part in parts).split())


def describe(text):
    """The last question of an opening, and what fits around it."""
    sentences = SENTENCE.split(text)
    plain = [at for at, each in enumerate(sentences) if FORMULA not in each]
    if not plain:
        return ""
    asked = [at for at in plain if sentences[at].endswith("?")]
    start = asked[-1] if asked else plain[0]
    end = start + 1

    def fits(part):
        return len(" ".join(part)) <= MOST and FORMULA not in "".join(part)

    while start and fits(sentences[start - 1:end]):
        start -= 1
    while end < len(sentences) and fits(sentences[start:end + 1]):
        end += 1
    return shorten(" ".join(sentences[start:end]), MOST, placeholder=" …")


def head(pagename, title, words, name, site):
    """What a page says of itself in its head."""
    said = {"og:title": title, "og:type": "article", "og:site_name": name}
    if words:
        said["og:description"] = words
    if site:
        said |= {"og:url": f"{site}{pagename}.html",
                 "og:image": f"{site}_images/card-{Path(pagename).name}.png",
                 "og:image:width": CARD[0], "og:image:height": CARD[1]}
    tags = [f'<meta property="{key}" content="{escape(str(value))}">'
            for key, value in said.items()]
    if words:
        tags.append(f'<meta name="description" content="{escape(words)}">')
    if site:
        tags.append('<meta name="twitter:card" content="summary_large_image">')
    return "\n".join(tags) + "\n"


def card(title, words, name, picture):
    """What a link to a page looks like where people share it."""
    image = Image.new("RGB", CARD, "white")
    pen = ImageDraw.Draw(image)
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    big = ImageFont.truetype(fonts / "DejaVuSans-Bold.ttf", 56)
    small = ImageFont.truetype(fonts / "DejaVuSans.ttf", 32)
    lines = wrap(title, 30)
    pen.multiline_text((60, 50), "\n".join(lines), INK, big, spacing=14)
    pen.text((60, 550), name, BLUE, small)
    top = 80 + 70 * len(lines)
    if picture is None:
        pen.multiline_text((60, top + 20), "\n".join(wrap(words, 52)), INK,
                           small, spacing=14)
    else:
        room = CARD[0] - 120, 520 - top
        with Image.open(picture) as drawing:
            drawing = ImageOps.contain(drawing.convert("RGB"), room)
        image.paste(drawing, ((CARD[0] - drawing.width) // 2,
                              top + (room[1] - drawing.height) // 2))
    return image.quantize(64)


def introduce(app, pagename, template, context, doctree):
    if doctree is not None:                            # not the index
        title = unescape(re.sub("<[^>]+>", "", context["title"]))
        context["metatags"] += head(
            pagename, title, describe(opening(doctree)),
            app.config.html_title, app.config.html_baseurl)


def draw(app, error):
    if error or app.builder.format != "html" or not app.config.html_baseurl:
        return
    out = Path(app.outdir)
    for page in app.env.found_docs:
        html = (out / f"{page}.html").read_text()
        said = {key: unescape(text) for key, text in SAID.findall(html)}
        figure = FIGURE.search(html)
        image = card(said["title"], said.get("description", ""),
                     said["site_name"],
                     figure and out / "_images" / f"{figure[1]}.png")
        image.save(out / "_images" / f"card-{Path(page).name}.png")


def setup(app):
    app.connect("html-page-context", introduce)
    app.connect("build-finished", draw)
    return {"parallel_read_safe": True}
