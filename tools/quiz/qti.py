"""A package of IMS QTI 1.2: a question bank a file, and a manifest.

The elements are those of ims_qtiasiv1p2p1.dtd, in the order and with the
names that Canvas gives them in its own exports (lib/cc/qti/qti_items.rb,
qti_generator.rb in instructure/canvas-lms). Formulas are MathML, which Canvas
keeps (gems/canvas_sanitize) and browsers draw.
"""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from tools import prose
from tools.quiz.banks import Bank

SPACE = re.compile(r"<mspace[^>]*></mspace>")
EPOCH = 1980, 1, 1, 0, 0, 0             # the same bytes each time
FORMS = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True,
                    loader=FileSystemLoader(Path(__file__).parent))


def formula(formulas: prose.Formulas) -> Iterator[str]:
    """Canvas takes the width of a space away, and with it the space."""
    for math in prose.mathml(formulas):
        yield SPACE.sub("<mtext>\u2009</mtext>", math)


def write(banks: list[Bank], path: Path) -> None:
    """Write banks to a package."""
    form = FORMS.get_template("qti.xml")
    files = {"imsmanifest.xml": FORMS.get_template(
        "qti_manifest.xml").render(banks=banks)}
    files |= {f"{bank.ident}.xml": form.render(bank=bank) for bank in banks}
    with zipfile.ZipFile(path, "w") as package:
        for name, text in files.items():
            package.writestr(zipfile.ZipInfo(name, EPOCH), text,
                             zipfile.ZIP_DEFLATED)
