"""Which slides a chapter has: chosen by rule from the notebook's own cells.

Title, goals and schematic; for each topic its heading with what stands first;
each prediction, then its answer with what the next cell prints; each figure;
summary and exercises: these stand in every lecture. The others follow, in the
order of their ranks, while there is room. Text is cut at sentences; what is
cut is in the notes.

A cell's metadata can overrule this, with the names that nbconvert and RISE
use: slideshow.slide_type is "slide" or "subslide" (always there, and uncut),
"fragment" or "-" (on the slide before), "notes" (in its notes) or "skip".
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from course import prediction
from tools.lecture.cut import (
    BRACKET,
    HIGH,
    WIDE,
    blocks,
    has_more,
    height,
    lead,
    pages,
    sentences,
    shorten,
    unlinked,
    width,
)
from tools.parts import DETAILS, has_picture, hidden, reading_minutes, sections

MINUTES = 45
AIM, MOST = 28, 30      # slides, and with those that another slide needs
ALWAYS = 0
NEEDED, PITFALLS, FORMULA, PYTORCH, OUTPUT, TEXT, ALONE = range(1, 8)  # ranks
FIXED = {"": 3, "Pitfalls": 2, "Summary": 2, "Exercises": 1}        # minutes
UNSHOWN = "Setup", "Deeper", "References"
PRE = "code", "output"
LONGEST = 20, 88        # lines of code and output, signs in one
SMALL = 14              # with more lines, they are set smaller
PITFALL = re.compile(r"(?ms)^(?:- |\d\. )?\*\*(.+?)\*\*(.*?)"
                     r"(?=\n\n|^- |^\d\. |\Z)")
POINT = re.compile(r"(?m)^- (.+(?:\n  .+)*)")
EXERCISE = re.compile(r"(?s)^\*\*Exercise (\d+\.\d+)\*\* \((.*?)\)\. (.*)")
TAG = re.compile(r"\\tag\{([\w.]+)\}")
DISPLAY = re.compile(r"(?s)\s*\$\$\s*(.*?)\s*\$\$\s*")
TITLE = re.compile(r"# @title (?:(?:Plot|Schematic)(?:: | of )?)?(.*)")


@dataclass
class Block:
    """What stands on a slide: text, chosen, code, output or picture."""

    kind: str
    source: str
    alt: str = ""


@dataclass
class Slide:
    section: str
    title: str
    kind: str                   # how it looks: title, text, question, ...
    cell: str                   # where it comes from
    rank: int = ALWAYS
    blocks: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    minutes: float = 0

    def rows(self):
        """Lines of code and output."""
        return [line for block in self.blocks if block.kind in PRE
                for line in block.source.split("\n")]

    def filled(self):
        """About how many lines of the slide are in use."""
        rows = len(self.rows())
        return rows * (0.7 if rows <= SMALL else 0.62) + sum(
            height(*each) for block in self.blocks
            if block.kind not in (*PRE, "picture")
            for each in blocks(block.source))


def printed(cell):
    return "".join(output.get("text", "")
                   for output in cell.outputs).rstrip("\n")


def picture(cell):
    return next(output["data"]["image/png"] for output in cell.outputs
                if "image/png" in output.get("data", {}))


def alt(cell):
    return cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")


def short(heading):
    return heading.partition(":")[0]


def apart(text):
    """Its displayed formulas stand in lines of their own again."""
    return DISPLAY.sub(lambda found: f"\n\n$$\n{found[1]}\n$$\n\n", text)


def first_upper(text):
    return text[:1].upper() + text[1:]


def fits(*texts):
    lines = "\n".join(texts).split("\n")
    most, widest = LONGEST
    return len(lines) <= most and max(map(len, lines)) <= widest


def bare_prose(source):
    """Without headings and links."""
    return re.sub(r"(?m)^#+ .*\n*", "", unlinked(source)).strip()


def ruling(cell):
    return cell.metadata.get("slideshow", {}).get("slide_type")


class Chooser:
    """Walks through the cells of a section and makes its slides."""

    def __init__(self, section):
        self.section, self.heading = section, section.heading
        self.topic = short(section.heading)
        self.slides, self.notes = [], []
        self.answered = False       # the slide before is an unsettled answer
        self.bare = False           # the slide before wants a caption

    def add(self, title, kind, cell, rank, shown, notes=()):
        self.slides.append(Slide(self.heading, title, kind, cell.id, rank,
                                 [Block(*each) for each in shown],
                                 self.notes))
        self.notes, self.bare, self.answered = [], False, False
        self.note(*notes)

    def note(self, *texts):
        texts = [text for text in texts if text.strip()]
        (self.slides[-1].notes if self.slides else self.notes).extend(texts)

    def take(self, cell):
        ruled, before = ruling(cell), len(self.slides)
        if ruled == "notes":
            self.note(bare_prose(cell.source))
            return
        if cell.cell_type == "markdown":
            self.prose(cell, ruled)
        elif has_picture(cell):
            self.figure(cell)
        else:
            self.code(cell, ruled)
        made = self.slides[before:]
        if ruled in ("slide", "subslide"):
            for slide in made:
                slide.rank = ALWAYS
        elif ruled in ("fragment", "-") and before:
            del self.slides[before:]
            self.slides[-1].rank = ALWAYS
            for slide in made:
                self.slides[-1].blocks += slide.blocks
                self.slides[-1].notes += slide.notes

    def prose(self, cell, ruled):
        text = bare_prose(cell.source)
        if prediction.MARK.search(text):
            asked = prediction.read(text)
            self.text(cell, asked.before, ruled)
            self.prediction(cell, asked)
            _, _, answered = text.partition(prediction.FOLD)
            self.note(answered.partition(prediction.END)[2])
        else:
            self.text(cell, text, ruled)

    def text(self, cell, text, ruled):
        is_head = cell.id == self.section.cells[0].id
        parsed = blocks(DETAILS.sub("", text))
        if self.bare and not ruled and parsed and parsed[0][0] == "paragraph":
            parsed = self.caption(parsed)
        if not is_head and not ruled and not has_more(parsed):
            self.note(*(source for _, source in parsed))
            return
        kept, cut = (parsed, []) if ruled else shorten(parsed)
        found, lost = ([kept], []) if ruled else pages(kept)
        for at, page in enumerate(found or [[]] * is_head):
            first = is_head and not at
            rank = (ALWAYS if first and self.section.is_topic else
                    FORMULA if has_more(page) and self.section.is_topic
                    else TEXT)
            self.add(self.heading if first else self.topic, "text", cell, rank,
                     [("text", source) for _, source in page])
        self.note(*cut, *lost)

    def caption(self, parsed):
        """Put what is said of a figure or output under it -> the rest."""
        said, slide = sentences(parsed[0][1]), self.slides[-1]
        leads = parsed[1:] and parsed[1][0] != "paragraph"
        held = leads and (len(said) < 3 or slide.kind != "figure")
        self.bare = False
        if held or slide.filled() + 2.4 > HIGH:
            return parsed
        aside = [each for each in said if BRACKET.fullmatch(each)]
        self.note(*aside)
        said = [each for each in said if each not in aside]
        if not said:
            return parsed[1:]
        count = 1 if leads else lead(said, 2)
        slide.blocks.append(Block("text", " ".join(said[:count])))
        rest = " ".join(said[count:])
        return [("paragraph", rest), *parsed[1:]] if rest else parsed[1:]

    def prediction(self, cell, asked):
        """A question, then its answer with the first and last of its why.

        The text before it holds what the question is about.
        """
        for slide in reversed(self.slides):
            if slide.kind != "text" or slide.rank == ALWAYS:
                break
            slide.rank = NEEDED
        said, last = sentences(asked.why), []
        if lead(said, 6) < len(said):
            said, last = said[:-1], said[-1:]
        first = lead(said, 3) if last else len(said)
        choices = [f"({letter}) {choice}"
                   for letter, choice in asked.choices.items()]
        [right] = [choice for choice in choices
                   if choice.startswith(f"({asked.right})")]
        title = f"Predict {asked.number}"
        self.add(title, "question", cell, ALWAYS,
                 [("text", "\n- ".join([f"{asked.question}\n", *choices]))])
        self.add(f"{title}: {asked.right}", "answer", cell, ALWAYS,
                 [("chosen", right),
                  ("text", apart(" ".join([*said[:first], *last])))],
                 [apart(" ".join(said[first:])),
                  *(f"({letter}) {word}"
                    for letter, word in asked.words.items())])
        self.answered = True

    def figure(self, cell):
        titled = TITLE.match(cell.source)
        title = first_upper(titled[1]) if titled and titled[1] else (
            self.topic)
        self.add(title, "figure", cell, ALWAYS,
                 [("picture", picture(cell), alt(cell))])
        if said := printed(cell):
            self.note(f"```\n{said}\n```")
        self.bare = True

    def code(self, cell, ruled):
        said = printed(cell)
        if hidden(cell) and not ruled or not (said or ruled):
            return
        if self.answered and fits(said):
            answer = self.slides[-1]
            if answer.filled() + 0.7 * (said.count("\n") + 1) < HIGH:
                answer.blocks.append(Block("output", said))
            else:
                self.add(answer.title, "code", cell, ALWAYS,
                         [("output", said)])
        elif ruled or fits(cell.source, said):
            self.add(self.topic, "code", cell,
                     OUTPUT if self.section.is_topic else PYTORCH,
                     [("code", cell.source), ("output", said)][:1 + bool(said)])
        elif fits(said) and "\n" in said:
            self.add(self.topic, "code", cell, ALONE, [("output", said)])
        else:
            return
        self.answered, self.bare = False, True


def opening(section):
    """Title, goals and schematic."""
    first = section.cells[0]
    title, _, rest = first.source.partition("\n")
    story, _, rest = rest.partition("**After this chapter you can**")
    goals, _, needs = rest.partition("**You need**")
    said = sentences(unlinked(story))
    asked = [each for each in said if each.endswith("?")][-2:] or said[-1:]
    first_asked = said.index(asked[0])
    told = []               # what the question is about, about three lines
    while width(" ".join([*told, *asked])) < 3 * WIDE and first_asked:
        first_asked -= 1
        told.insert(0, said[first_asked])
    chooser = Chooser(section)
    chooser.topic = short(re.sub(r"# \d+\. ", "", title))
    chooser.add(title.removeprefix("# "), "title", first, ALWAYS,
                [("text", each) for each in (" ".join(told), *asked) if each],
                [" ".join(each for each in said
                          if each not in told + asked)])
    chooser.add("After this lecture you can", "list", first, ALWAYS,
                [("text", unlinked(goals.strip()))],
                ["**You need** " + unlinked(
                    needs.partition("**Time**")[0].strip())])
    for cell in section.cells[1:]:
        chooser.take(cell)
    return chooser.slides


def listed(section, rank, points):
    """A slide of points, each as long as all have room; whole in the notes."""
    said = [sentences(point) for point in points]
    for lines in (6, 5, 4, 3, 2):
        text = "\n".join(f"- {' '.join(each[:lead(each, lines)])}"
                         for each in said)
        if height("bullet_list", text) <= HIGH - 1:
            break
    chooser = Chooser(section)
    chooser.add(section.heading, "list", section.cells[0], rank,
                [("text", text)], [bare_prose(section.prose())])
    return chooser.slides


def pitfalls(section):
    return listed(section, PITFALLS, [
        f"**{name}** {said.strip()}" for name, said
        in PITFALL.findall(unlinked(section.prose()))])


def summary(section):
    return listed(section, ALWAYS, POINT.findall(unlinked(section.prose())))


def homework(section, goals):
    chooser, lines = Chooser(section), []
    for cell in section.cells:
        stated = EXERCISE.match(cell.source)
        if stated and cell.cell_type == "markdown":
            number, terms, text = stated.groups()
            chooser.note(unlinked(text.partition("\n\n")[0]))
            lines.append(f"- **{number}** {goals[number]} *({terms})*")
    chooser.add("At home", "list", section.cells[0], ALWAYS,
                [("text", "\n".join(lines))])
    return chooser.slides


def joined(cells):
    """Neighboring cells of text as one, if no metadata says otherwise."""
    found = []
    for cell in cells:
        if found and not prediction.MARK.search(found[-1].source) and all(
                each.cell_type == "markdown" and not ruling(each)
                for each in (found[-1], cell)):
            found[-1] = found[-1].copy()
            found[-1].source += "\n\n" + cell.source
        else:
            found.append(cell)
    return found


def body(section):
    chooser = Chooser(section)
    for cell in joined(section.cells):
        chooser.take(cell)
    return chooser.slides


def unlead(slide, after):
    """Put a last sentence that leads to what is not shown into the notes."""
    last = slide.blocks[-1] if slide.blocks else None
    if (last and last.source.endswith(":") and after.cell != slide.cell
            and len(said := sentences(last.source)) > 1):
        last.source = " ".join(said[:-1])
        slide.notes.insert(0, said[-1])


def trim(slides):
    """The AIM slides that matter most; what the others say is in the notes.

    First of all, a section has more than the slide with its heading. Then
    comes what a question or the number of a formula speaks of.
    """
    always = "\n".join(each for slide in slides if slide.rank == ALWAYS
                       for each in (slide.title, *(
                           block.alt or block.source
                           for block in slide.blocks)))
    for slide in slides:
        if slide.rank == FORMULA and any(
                f"({number})" in always for block in slide.blocks
                for number in TAG.findall(block.source)):
            slide.rank = NEEDED
    held = Counter(slide.section for slide in slides if slide.rank == ALWAYS)
    spare = sorted((slide.rank, at) for at, slide in enumerate(slides)
                   if slide.rank != ALWAYS)
    first = []
    for rank, at in spare:
        if held[slides[at].section] == 1:
            held[slides[at].section] += 1
            first.append((rank, at))
    needed = [each for each in spare if each[0] == NEEDED]
    ordered = list(dict.fromkeys([*first, *needed, *spare]))
    fixed = len(slides) - len(spare)
    room = (MOST if needed else AIM) - fixed
    taken = {at for _, at in ordered[:max(0, room)]}
    kept = []
    for at, slide in enumerate(slides):
        if slide.rank == ALWAYS or at in taken:
            kept.append(slide)
        else:
            kept[-1].notes += [
                block.source for block in slide.blocks
                if block.kind == "text" and slide.rank != PITFALLS]
            kept[-1].notes += slide.notes
    for slide, after in zip(kept, kept[1:], strict=False):
        if after.kind not in ("code", "figure") and slide.kind == "text":
            unlead(slide, after)
    return kept


def share_minutes(slides, parts):
    """Each section's part of the lecture, by the time that reading it takes."""
    shown = {slide.section for slide in slides}
    reading = {part.heading: reading_minutes([part]) for part in parts
               if part.heading in shown and part.heading not in FIXED}
    fixed = sum(least for heading, least in FIXED.items() if heading in shown)
    scale = (MINUTES - fixed) / sum(reading.values())
    for heading in shown:
        of = [slide for slide in slides if slide.section == heading]
        whole = FIXED.get(heading) or scale * reading[heading]
        for slide in of:
            slide.minutes = whole / len(of)


def beliefs(sheet):
    """{heading: [wrong belief, and what is the case, ...]}"""
    found = {}
    for belief, case, heading in sheet.beliefs:
        found.setdefault(heading, []).append(
            f"**Wrong belief:** {belief}. **What is the case:** {case}.")
    return found


def choose(notebook, sheet):
    """The slides of a chapter; sheet: its goals and wrong beliefs."""
    parts = sections(notebook.cells)
    for part in parts:
        part.cells = [cell for cell in part.cells if ruling(cell) != "skip"]
    own = {"": opening, "Pitfalls": pitfalls, "Summary": summary,
           "Exercises": partial(homework, goals=sheet.goals)}
    shown = [part for part in parts if part.cells
             and not part.heading.startswith(UNSHOWN)]
    shown.sort(key=lambda part: part.heading == "Exercises")
    slides = trim([slide for part in shown
                   for slide in own.get(part.heading, body)(part)])
    share_minutes(slides, parts)
    first = {}
    for slide in slides:
        first.setdefault(slide.section, slide)
    for heading, said in beliefs(sheet).items():
        first.get(heading, slides[-1]).notes[:0] = said
    return slides
