"""The doors of the site: ways in, and a way to its authors.

A chapter opens in Colab twice, as the edition for students and solved. A page
says its edition and date, and where to report a mistake. A published site (the
environment's SITE_URL) has canonical addresses, a sitemap, and a page for wrong
addresses. What needs an address that nobody knows is left out.
"""

import os
import re
from datetime import datetime, timezone
from html import escape, unescape
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import yaml
from repository import git

COLAB = "https://colab.research.google.com/github"
LINK = re.compile(r'\b(href|src|action|data-content_root)="'
                  r'(?!#|/|[a-z]+:)(?:\./)?([^"]*)"')
LOST = """<section><h1>Page not found</h1>
<p>This address leads nowhere: the page has moved, or the link has a slip.
Chapters got new numbers in the second edition.</p>
<div class="doors"><p><a href="book/intro.html#the-chapters">All chapters</a>
<a href="search.html">Search</a></p></div></section>"""


def edition(root):
    """The number and the date of what is built; never the time of building."""
    cited = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    stamp = (os.environ.get("SOURCE_DATE_EPOCH")
             or git(root, "log", "-1", "--format=%ct").strip())
    text = f"Edition {cited['version']}"
    if stamp:
        day = datetime.fromtimestamp(int(stamp), timezone.utc)
        text += f", as of {day.day} {day:%B %Y}"
    return text


def colab(repository, pagename):
    """Two doors: to the student edition of a chapter, and to the solved one."""
    where = repository.removeprefix("https://github.com/")
    name = pagename.rpartition("/")[2]
    doors = [("Colab: answer the exercises", "fas fa-pen", f"student/{name}"),
             ("Colab: solved notebook", "fas fa-check", f"main/{pagename}")]
    return {"type": "group", "label": "launch-buttons", "icon": "fas fa-rocket",
            "tooltip": "Open this chapter in Colab", "buttons": [
                {"type": "link", "text": text, "icon": icon, "tooltip": text,
                 "url": f"{COLAB}/{where}/blob/{path}.ipynb"}
                for text, icon, path in doors]}


def foot(title, repository, edition):
    """Edition and date, and where a mistake on this page is reported."""
    if not repository:
        return edition
    asked = urlencode({"template": "1-mistake.yml", "title": f"{title}: ",
                       "place": title})
    return (f'{edition}. <a href="{repository}/issues/new?{escape(asked)}">'
            "Report a mistake on this page</a>")


def open_doors(app, pagename, template, context, doctree):
    repository = app.config.html_theme_options.get("repository_url")
    title = unescape(re.sub("<[^>]+>", "", context.get("title", "")))
    context["theme_extra_footer"] = foot(
        title, repository, edition(Path(app.srcdir)))
    if repository and doctree and str(
            app.env.doc2path(pagename)).endswith(".ipynb"):
        context["header_buttons"].insert(0, colab(repository, pagename))


def lost(app):
    """The page for wrong addresses; a host has to know where it is itself."""
    if app.config.html_baseurl:
        yield "404", {"title": "Page not found", "body": LOST}, "page.html"


def rooted(html, site):
    """A page at the root that works under whatever address it is shown."""
    root = urlsplit(site).path
    return LINK.sub(lambda found: f'{found[1]}="{root}{found[2]}"', html)


def publish(app, error):
    site, out = app.config.html_baseurl, Path(app.outdir)
    if error or app.builder.format != "html" or not site:
        return
    addresses = "".join(f"<url><loc>{escape(site + page)}.html</loc></url>\n"
                        for page in sorted(app.env.found_docs))
    (out / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns='
        '"http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{addresses}</urlset>\n")
    path = out / "404.html"
    path.write_text(rooted(path.read_text(), site))


def address(app, config):
    site = os.environ.get("SITE_URL", "").rstrip("/")
    config.html_baseurl = site and f"{site}/"


def setup(app):
    app.connect("config-inited", address, priority=900)     # after Jupyter Book
    app.connect("html-page-context", open_doors, priority=502)  # after theme
    app.connect("html-collect-pages", lost)
    app.connect("build-finished", publish, priority=910)        # after light
    return {"parallel_read_safe": True}
