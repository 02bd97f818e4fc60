r"""Moodle XML, as https://docs.moodle.org/en/Moodle_XML_format describes it,
and as Moodle's own question/format/xml/format.php reads it.

Formulas are TeX in \( \) and \[ \], which Moodle's MathJax filter sets.
"""

import re
from html import escape
from xml.etree import ElementTree
from xml.etree.ElementTree import SubElement


def formula(found):
    for tex, display in found:
        start, end = (r"\[", r"\]") if display else (r"\(", r"\)")
        yield start + escape(tex.strip(), False) + end


def put(parent, name, text, **attributes):
    """<name><text>text</text></name>, as Moodle likes it."""
    element = SubElement(parent, name, attributes)
    SubElement(element, "text").text = text
    return element


def category(quiz, path):
    question = SubElement(quiz, "question", type="category")
    put(question, "category", "$course$/top/" + "/".join(
        name.replace("/", "//") for name in path))


def add(quiz, one, tag):
    kind = "truefalse" if one.is_true_or_false else "multichoice"
    question = SubElement(quiz, "question", type=kind)
    put(question, "name", one.title)
    put(question, "questiontext", one.text, format="html")
    put(question, "generalfeedback", one.why, format="html")
    about = {"defaultgrade": "1", "idnumber": one.ident}
    if kind == "multichoice":
        about |= {"single": "true", "shuffleanswers": "true",
                  "answernumbering": "abc"}
    for name, text in about.items():
        SubElement(question, name).text = text
    for text, word in one.choices:
        if kind == "truefalse":         # its own words, not HTML
            text = re.sub("<[^>]*>", "", text).lower()
        answer = put(question, "answer", text, format="html",
                     fraction="0" if word else "100")
        put(answer, "feedback", word, format="html")
    put(SubElement(question, "tags"), "tag", tag)


def write(banks, questions, path):
    """Write banks to a file; questions: {ident: Written}, of all in them."""
    quiz = ElementTree.Element("quiz")
    for bank in banks:
        category(quiz, bank.path)
        for one in bank.questions:
            add(quiz, questions[one.ident], bank.path[-1].lower())
    ElementTree.indent(quiz)
    path.write_bytes(ElementTree.tostring(quiz, "utf-8", xml_declaration=True))
