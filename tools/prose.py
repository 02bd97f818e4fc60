"""Markdown as HTML, by pandoc: many texts in one call, formulas as wished."""

import json
from html import escape

import pypandoc

from tools.website import formulas  # the site's own MathML

BETWEEN = '<hr class="next">'


def mathematics(node):
    """The formulas of a document of pandoc's, in order."""
    if isinstance(node, dict) and node.get("t") == "Math":
        yield node
    elif isinstance(node, dict | list):
        for part in node.values() if isinstance(node, dict) else node:
            yield from mathematics(part)


def mathml(found):
    """Formulas, given as (tex, display), as the site sets them."""
    made = formulas.mathml([(formulas.TAG.sub("", tex).strip(), display)
                            for tex, display in found])
    for (tex, _), math in zip(found, made, strict=True):
        tag = formulas.TAG.search(tex)
        yield ((math or f"<code>{escape(tex)}</code>")
               + (f" ({tag[1]})" if tag else ""))


def html(texts, formula=mathml):
    """Texts in Markdown as HTML; formula as mathml, or instead of it."""
    document = json.loads(pypandoc.convert_text(
        f"\n\n{BETWEEN}\n\n".join(texts), "json",
        format="gfm+tex_math_dollars"))
    found = [*mathematics(document)]
    made = formula([(node["c"][1], node["c"][0]["t"] == "DisplayMath")
                    for node in found])
    for node, raw in zip(found, made, strict=True):
        node |= {"t": "RawInline", "c": ["html", raw]}
    page = pypandoc.convert_text(json.dumps(document), "html", format="json",
                                 extra_args=["--wrap=preserve"])
    return [part.strip() for part in page.split(BETWEEN)]
