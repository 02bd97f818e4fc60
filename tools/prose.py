"""Markdown as HTML, by pandoc: many texts in one call, formulas as wished."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import Any

import pypandoc

from tools.website import formulas  # the site's own MathML

BETWEEN = '<hr class="next">'
Formulas = Sequence[tuple[str, bool]]   # TeX; is it a line of its own?


def mathematics(node: Any) -> Iterator[dict[str, Any]]:
    """The formulas of a document of pandoc's, in order."""
    if isinstance(node, dict) and node.get("t") == "Math":
        yield node
    elif isinstance(node, dict | list):
        for part in node.values() if isinstance(node, dict) else node:
            yield from mathematics(part)


def mathml(listed: Formulas) -> Iterator[str]:
    """Formulas as the site sets them."""
    made = formulas.mathml([(formulas.TAG.sub("", tex).strip(), display)
                            for tex, display in listed])
    for (tex, _), math in zip(listed, made, strict=True):
        tag = formulas.TAG.search(tex)
        yield ((math or f"<code>{escape(tex)}</code>")
               + (f" ({tag[1]})" if tag else ""))


def set_formulas(document: dict[str, Any],
                 formula: Callable[[Formulas], Iterable[str]] = mathml
                 ) -> dict[str, Any]:
    """A document of pandoc's, its formulas replaced by HTML, in place."""
    math = [*mathematics(document)]
    made = formula([(node["c"][1], node["c"][0]["t"] == "DisplayMath")
                    for node in math])
    for node, raw in zip(math, made, strict=True):
        node |= {"t": "RawInline", "c": ["html", raw]}
    return document


def html(texts: Iterable[str],
         formula: Callable[[Formulas], Iterable[str]] = mathml) -> list[str]:
    """Texts in Markdown as HTML; formula as mathml, or instead of it."""
    document = set_formulas(json.loads(pypandoc.convert_text(
        f"\n\n{BETWEEN}\n\n".join(texts), "json",
        format="gfm+tex_math_dollars")), formula)
    page = pypandoc.convert_text(json.dumps(document), "html", format="json",
                                 extra_args=["--wrap=preserve"])
    return [part.strip() for part in page.split(BETWEEN)]
