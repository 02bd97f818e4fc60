"""The parts of a chapter, what they hold, and the minutes that they take."""

import re

TAIL = "Deeper", "Exercises", "References", "Summary"
PLAIN = "Setup", "Pitfalls", "In PyTorch"
HIDDEN = {"hide-input", "hide-cell", "remove-cell", "remove-input"}
DETAILS = re.compile(r"(?s)<details>.*?</details>")


def hidden(cell):
    return bool(HIDDEN & set(cell.metadata.get("tags", [])))


def code_lines(cell):
    return len([line for line in cell.source.split("\n") if line.strip()])


def has_picture(cell):
    return any("image/png" in output.get("data", {})
               for output in cell.get("outputs", []))


class Section:
    """A heading of the second level, and the cells below it."""

    def __init__(self, heading):
        self.heading, self.cells = heading, []

    @property
    def counts(self):
        """Do its words and lines count as the chapter's?"""
        return not self.heading.startswith(TAIL)

    @property
    def is_topic(self):
        return self.counts and self.heading not in ("", *PLAIN)

    def prose(self):
        return "\n\n".join(cell.source for cell in self.cells
                           if cell.cell_type == "markdown")

    def words(self):
        return len(DETAILS.sub("", self.prose()).split())

    def lines(self):
        return sum(code_lines(cell) for cell in self.cells
                   if cell.cell_type == "code" and not hidden(cell))

    def figures(self):
        return sum(map(has_picture, self.cells))


def sections(cells):
    """The opening (heading ""), then each "## " with its cells."""
    found = [Section("")]
    for cell in cells:
        if cell.cell_type == "markdown":
            heading = re.search(r"(?m)^## (.*)$", cell.source)
            if heading:
                found.append(Section(heading[1].strip()))
        found[-1].cells.append(cell)
    return found


def reading_minutes(parts):
    """Words / 45 + visible lines / 8."""
    return (sum(part.words() for part in parts) / 45
            + sum(part.lines() for part in parts) / 8)
