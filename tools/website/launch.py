"""Ways into a page and back to its authors, where their addresses are known.

A chapter opens in Colab twice, as the edition for students and solved. A page
says its edition and date, and where to report a mistake. The address of the
repository is that of the clone, the address of the site is the environment's
SITE_URL; where one is not known, no link is guessed.
"""

import os
import re
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from course.edition import edition, git
from tools.website.section_text import line

GITHUB = "https://github.com/"
COLAB = "https://colab.research.google.com/github/"
REMOTE = re.compile(r"(?:^|[/@.])github\.com(?::\d+)?[:/]"
                    r"([\w.-]+/[\w.-]+?)(?:\.git)?/?$")
NOT_FOUND = """<section><h1>Page not found</h1>
<p>This address leads nowhere: the page has moved, or the link has a slip.
Chapters got new numbers in the second edition.</p>
<div class="doors"><p><a href="{root}book/intro.html#the-chapters">All
chapters</a> <a href="{root}search.html">Search</a></p></div></section>"""


def repository(folder: Path) -> str | None:
    """owner/name on GitHub of the clone that builds the book, if known."""
    named = os.environ.get("GITHUB_REPOSITORY")
    remote = REMOTE.search(git(folder, "remote", "get-url", "origin").strip())
    return named or (remote and remote[1])


def address() -> str:
    """The address of the published site, with a / at its end, or nothing."""
    site = os.environ.get("SITE_URL", "").rstrip("/")
    return site and f"{site}/"


def configure(app: Sphinx, config: Config) -> None:
    """Tell the theme and other extensions both addresses."""
    name, site = repository(Path(app.srcdir)), address()
    config.html_theme_options |= {
        "repository_url": f"{GITHUB}{name}" if name else "",
        "use_repository_button": bool(name)}
    config.html_baseurl = config.ogp_site_url = site
    if site:
        root = urlsplit(site).path
        config.notfound_urls_prefix = root
        config.notfound_context = {"title": "Page not found",
                                   "body": NOT_FOUND.format(root=root)}
        config.sitemap_url_scheme = "{link}"
        config.sitemap_excludes = ["404.html", "genindex.html", "search.html"]


def colab(name: str, page: str) -> dict[str, Any]:
    """Two buttons: the student edition of a chapter, and the solved one."""
    chapter = page.rpartition("/")[2]
    buttons = [("Colab: answer the exercises", "fas fa-pen",
                f"student/{chapter}"),
               ("Colab: solved notebook", "fas fa-check", f"main/{page}")]
    return {"type": "group", "label": "launch-buttons", "icon": "fas fa-rocket",
            "tooltip": "Open this chapter in Colab", "buttons": [
                {"type": "link", "text": text, "icon": icon, "tooltip": text,
                 "url": f"{COLAB}{name}/blob/{path}.ipynb"}
                for text, icon, path in buttons]}


def footer(title: str, url: str, edition: str) -> str:
    """Edition and date, and where a mistake on this page is reported."""
    if not url:
        return edition
    query = urlencode({"template": "1-mistake.yml", "title": f"{title}: ",
                       "place": title})
    return (f'{edition}. <a href="{url}/issues/new?{escape(query)}">'
            "Report a mistake on this page</a>")


def add_links(app: Sphinx, page: str, template: str, context: dict[str, Any],
              doctree: nodes.document | None) -> None:
    """Give a page its footer, and a chapter its buttons."""
    url = app.config.html_theme_options.get("repository_url", "")
    title = unescape(re.sub("<[^>]+>", "", context.get("title", "")))
    context["theme_extra_footer"] = footer(title, url,
                                           edition(Path(app.srcdir)))
    if page == "404":                   # shown at addresses of any depth
        context["content_root"] = app.config.notfound_urls_prefix
    if url and doctree and str(app.env.doc2path(page)).endswith(".ipynb"):
        context["header_buttons"].insert(
            0, colab(url.removeprefix(GITHUB), page))


def tell_opening(app: Sphinx, page: str, template: str,
                 context: dict[str, Any], doctree: nodes.document | None
                 ) -> None:
    """Leave the first paragraph, already written, to its description."""
    if paragraph := doctree and doctree.next_node(nodes.paragraph):
        paragraph[:] = [nodes.Text(line(paragraph))]      # formulas are text


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", tell_opening)
    app.setup_extension("sphinxext.opengraph")
    if address():
        app.setup_extension("sphinx_sitemap")
        app.setup_extension("notfound.extension")
    app.connect("config-inited", configure)
    # The theme makes the list of buttons at 501.
    app.connect("html-page-context", add_links, priority=502)
