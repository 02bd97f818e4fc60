"""Slides as one page of HTML that needs nothing else, not even a network."""

import base64
import io
import re
from html import escape
from pathlib import Path

from PIL import Image
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from course.paths import BOOK
from tools.prose import formulas
from tools.slides.choose import SMALL, short
from tools.slides.cut import markdown

HERE = Path(__file__).resolve().parent
FONT = BOOK / "_static" / "math.woff2"
ROOMY = 7.5             # lines, up to which a slide has larger letters
LARGE = 76              # signs in a line of code, up to which it has, too
HELD = re.compile("\x02(\\d+)\x03")


class Page:
    """Markdown and formulas as HTML; the formulas are set at the end, at once.
    """

    def __init__(self):
        self.formulas = []
        self.markdown = markdown(renderer=self.hold)

    def hold(self, tex, options):
        self.formulas.append((tex, options["display_mode"]))
        return f"\x02{len(self.formulas) - 1}\x03"

    def text(self, source):
        return self.markdown.render(source)

    def line(self, source):
        return self.markdown.renderInline(source)

    def finish(self, html):
        """The page with its formulas. ValueError: one that cannot be read."""
        drawn = formulas.mathml(
            [(formulas.TAG.sub("", tex).strip(), display)
             for tex, display in self.formulas])

        def put(found):
            (tex, _), out = (each[int(found[1])]
                             for each in (self.formulas, drawn))
            if out is None:
                raise ValueError(f"pandoc cannot read the formula {tex!r}")
            tag = formulas.TAG.search(tex)
            return out + (f'<span class="eqno">({tag[1]})</span>'
                          if tag else "")

        return formulas.INLINE.sub(r'<span class="nowrap">\g<0></span>',
                                   HELD.sub(put, html))


def picture(png, alt):
    """An <img> that holds its picture, as WebP without a loss."""
    small = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(png))) as image:
        wide, high = image.size
        image.convert("RGB").save(small, "WEBP", lossless=True, method=6)
    data = base64.b64encode(small.getvalue()).decode()
    return (f'<img src="data:image/webp;base64,{data}" alt="{escape(alt)}"'
            f' width="{wide}" height="{high}">')


def draw_block(block, page):
    if block.kind == "picture":
        return picture(block.source, block.alt)
    if block.kind == "code":
        code = highlight(block.source, PythonLexer(),
                         HtmlFormatter(nowrap=True))
        return f'<pre class="code">{code}</pre>'
    if block.kind == "output":
        return f'<pre class="output">{escape(block.source)}</pre>'
    if block.kind == "chosen":
        return f'<p class="chosen">{page.line(block.source)}</p>'
    return page.text(block.source)


def clock(minutes):
    """4.25 -> "4:15"."""
    seconds = round(minutes * 60)
    return f"{seconds // 60}:{seconds % 60:02}"


def draw_slide(slide, at, count, begins, chapter, page):
    level = "h1" if slide.kind == "title" else "h2"
    topic = short(slide.section)
    kicker = "" if topic in ("", slide.title) or (
        slide.title == slide.section) else page.line(topic)
    look = slide.kind
    if slide.kind not in ("figure", "title") and slide.filled() < ROOMY and (
            max(map(len, slide.rows()), default=0) <= LARGE):
        look += " roomy"
    elif len(slide.rows()) > SMALL:
        look += " dense"
    words = [block.alt for block in slide.blocks if block.alt]
    notes = "".join(page.text(note) for note in [
        *slide.notes, *(f"**In words:** {alt}" for alt in words)])
    body = "".join(draw_block(block, page) for block in slide.blocks)
    return (
        f'<section class="slide {look}" id="{at}" role="group"'
        f' aria-roledescription="slide" aria-label="{at} of {count}"'
        f' data-begins="{clock(begins)}" data-takes="{clock(slide.minutes)}">'
        f'<p class="topic">{kicker}</p>'
        f"<{level}>{page.line(slide.title)}</{level}>"
        f'<div class="body">{body}</div>'
        f"<footer><span>{page.line(short(chapter))}</span>"
        f"<span>Inside the Transformer, CC BY 4.0</span>"
        f"<span>{at} / {count}</span></footer>"
        f'<aside class="notes" aria-label="Notes">{notes}</aside></section>')


def draw(slides, chapter):
    """The whole page. chapter: its title, "04. Layer normalization"."""
    page, begins, drawn = Page(), 0, []
    for at, slide in enumerate(slides, 1):
        drawn.append(draw_slide(slide, at, len(slides), begins, chapter, page))
        begins += slide.minutes
    font = base64.b64encode(FONT.read_bytes()).decode()
    style, script = ((HERE / f"slides.{kind}").read_text("utf-8")
                     for kind in ("css", "js"))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(chapter)}</title><style>"
        '@font-face { font-family: "Course Math"; '
        f'src: url("data:font/woff2;base64,{font}"); }}\n{style}</style>'
        f"</head><body><main>{page.finish(''.join(drawn))}</main>"
        f"<script>{script}</script></body></html>\n")
