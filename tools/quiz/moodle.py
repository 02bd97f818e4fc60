r"""Moodle XML, as https://docs.moodle.org/en/Moodle_XML_format describes it,
and as Moodle's own question/format/xml/format.php reads it.

Formulas are TeX in \( \) and \[ \], which Moodle's MathJax filter sets.
"""

import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from tools.prose import Formulas
from tools.quiz.banks import Bank, Question


def formula(formulas: Formulas) -> Iterator[str]:
    """TeX between the signs that MathJax looks for."""
    for tex, display in formulas:
        start, end = (r"\[", r"\]") if display else (r"\(", r"\)")
        yield start + escape(tex.strip(), False) + end


def put(parent: Element, name: str, text: str, **attributes: str) -> Element:
    """<name><text>text</text></name>, as Moodle likes it."""
    element = SubElement(parent, name, attributes)
    SubElement(element, "text").text = text
    return element


def category(quiz: Element, path: list[str]) -> None:
    """What follows belongs to the category with this path."""
    question = SubElement(quiz, "question", type="category")
    put(question, "category", "$course$/top/" + "/".join(
        name.replace("/", "//") for name in path))


def add(quiz: Element, asked: Question, tag: str) -> None:
    """Write one question."""
    kind = ("truefalse" if asked.is_true_or_false else
            "multichoice" if asked.choices else "essay")
    question = SubElement(quiz, "question", type=kind)
    put(question, "name", asked.title)
    put(question, "questiontext", asked.text, format="html")
    put(question, "generalfeedback", asked.why, format="html")
    about = {"defaultgrade": "1", "idnumber": asked.ident}
    if kind == "multichoice":
        about |= {"single": "true", "shuffleanswers": "true",
                  "answernumbering": "abc"}
    elif kind == "essay":               # a person, or the student, compares
        about |= {"responseformat": "editor", "responserequired": "0",
                  "responsefieldlines": "5", "attachments": "0"}
    for name, text in about.items():
        SubElement(question, name).text = text
    for choice in asked.choices:
        text = choice.text
        if kind == "truefalse":         # its own words, not HTML
            text = re.sub("<[^>]*>", "", text).lower()
        answer = put(question, "answer", text, format="html",
                     fraction="0" if choice.word else "100")
        put(answer, "feedback", choice.word, format="html")
    put(SubElement(question, "tags"), "tag", tag)


def write(banks: Iterable[Bank], path: Path) -> None:
    """Write banks to a file."""
    quiz = ElementTree.Element("quiz")
    for bank in banks:
        category(quiz, bank.path)
        for question in bank.questions:
            add(quiz, question, bank.path[-1].lower())
    ElementTree.indent(quiz)
    path.write_bytes(ElementTree.tostring(quiz, "utf-8", xml_declaration=True))
