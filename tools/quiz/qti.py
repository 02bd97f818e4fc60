"""A package of IMS QTI 1.2: a question bank a file, and a manifest.

The elements are those of ims_qtiasiv1p2p1.dtd, in the order and with the
names that Canvas gives them in its own exports (lib/cc/qti/qti_items.rb,
qti_generator.rb in instructure/canvas-lms). Formulas are MathML, which Canvas
keeps (gems/canvas_sanitize) and browsers draw.
"""

import re
import zipfile
from xml.etree import ElementTree
from xml.etree.ElementTree import SubElement

from tools import prose

QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
SPACE = re.compile(r"<mspace[^>]*></mspace>")
EPOCH = 1980, 1, 1, 0, 0, 0             # the same bytes each time


def formula(found):
    """Canvas takes the width of a space away, and with it the space."""
    for math in prose.mathml(found):
        yield SPACE.sub("<mtext>\u2009</mtext>", math)


def field(parent, label, entry):
    each = SubElement(parent, "qtimetadatafield")
    SubElement(each, "fieldlabel").text = label
    SubElement(each, "fieldentry").text = entry


def put(parent, html):
    material = SubElement(parent, "material")
    SubElement(material, "mattext", texttype="text/html").text = html


def condition(processing, going_on):
    """A condition, to be filled, and what holds then."""
    each = SubElement(processing, "respcondition",
                      {"continue": "Yes" if going_on else "No"})
    return SubElement(each, "conditionvar"), each


def show(then, feedback):
    SubElement(then, "displayfeedback", feedbacktype="Response",
               linkrefid=feedback)


def process(item, one):
    """Which feedback for which choice, and 100 for the right one."""
    processing = SubElement(item, "resprocessing")
    SubElement(SubElement(processing, "outcomes"), "decvar", maxvalue="100",
               minvalue="0", varname="SCORE", vartype="Decimal")
    when, then = condition(processing, True)
    SubElement(when, "other")
    show(then, "general_fb")
    for right in (False, True):
        for number, (_, word) in enumerate(one.choices, 1):
            if right == bool(word):
                continue
            when, then = condition(processing, not right)
            SubElement(when, "varequal",
                       respident="response1").text = str(number)
            if right:
                SubElement(then, "setvar", action="Set",
                           varname="SCORE").text = "100"
            else:
                show(then, f"{number}_fb")


def add(bank, one):
    item = SubElement(bank, "item", ident=one.ident, title=one.title)
    about = SubElement(SubElement(item, "itemmetadata"), "qtimetadata")
    kind = "true_false" if one.is_true_or_false else "multiple_choice"
    field(about, "question_type", f"{kind}_question")
    field(about, "points_possible", "1.0")
    presentation = SubElement(item, "presentation")
    put(presentation, f"<div>{one.text}</div>")
    choices = SubElement(SubElement(
        presentation, "response_lid", ident="response1",
        rcardinality="Single"), "render_choice",
        shuffle="No" if one.is_true_or_false else "Yes")
    for number, (text, _) in enumerate(one.choices, 1):
        put(SubElement(choices, "response_label", ident=str(number)), text)
    process(item, one)
    said = {"general_fb": one.why} | {
        f"{number}_fb": word for number, (_, word)
        in enumerate(one.choices, 1) if word}
    for name, html in said.items():
        put(SubElement(SubElement(item, "itemfeedback", ident=name),
                       "flow_mat"), html)


def document(bank, questions):
    """A file of questions."""
    root = ElementTree.Element("questestinterop", xmlns=QTI)
    all_of_it = SubElement(root, "objectbank", ident=bank.ident)
    field(SubElement(all_of_it, "qtimetadata"), "bank_title",
          ": ".join([bank.path[0], *bank.path[-2:]]))
    for one in bank.questions:
        add(all_of_it, questions[one.ident])
    return root


def manifest(banks):
    root = ElementTree.Element("manifest", xmlns=PACKAGE,
                               identifier=f"{banks[0].ident}-package")
    about = SubElement(root, "metadata")
    SubElement(about, "schema").text = "IMS Content"
    SubElement(about, "schemaversion").text = "1.1.3"
    SubElement(root, "organizations")
    resources = SubElement(root, "resources")
    for bank in banks:
        each = SubElement(resources, "resource", identifier=bank.ident,
                          type="imsqti_xmlv1p2", href=f"{bank.ident}.xml")
        SubElement(each, "file", href=f"{bank.ident}.xml")
    return root


def write(banks, questions, path):
    """Write banks to a package; questions: {ident: Written}, of all in them."""
    files = {"imsmanifest.xml": manifest(banks)} | {
        f"{bank.ident}.xml": document(bank, questions) for bank in banks}
    with zipfile.ZipFile(path, "w") as package:
        for name, root in files.items():
            ElementTree.indent(root)
            package.writestr(
                zipfile.ZipInfo(name, EPOCH), ElementTree.tostring(
                    root, "utf-8", xml_declaration=True),
                zipfile.ZIP_DEFLATED)
