"""Other seeds and longer runs than a chapter has time for.

    python -m experiments.run [NN ...]            compare with the tables
    python -m experiments.run --write [NN ...]    write the tables anew

An experiment is a script NN_question.py beside this one, and its table
NN_question.md. The script takes its functions from chapter NN's cells and says

    QUESTION, COLUMNS     the heading of the table
    ROWS                  {words at the left of a row: what `row` is given}
    row(...)              the numbers of a row; or cell(..., i), one of them
    FORMATS               one for each number, as in "{:.2f}"
    QUICK                 the row that the tests run again, in at most 5 s; or
                          (row, i), a number
    TOLERANCE             by which a number may differ, relative to the table's
    TOLERANCES            {row: another one}, for a row that rounding decides
    HOLDS                 {what the chapter says: a test of {row: its numbers}},
                          which no tolerance may hide
"""

import tools.run.repeatable  # noqa: F401, I001  one thread, before torch loads

import re
import sys
from pathlib import Path
from runpy import run_path

HERE = Path(__file__).parent
SCRIPTS = sorted(HERE.glob("[0-9][0-9]_*.py"))


def line(cells):
    return f"| {' | '.join(cells)} |"


def numbers_of(experiment, words, columns):
    """The numbers of a row in some of its columns, computed now."""
    given = experiment["ROWS"][words]
    if "cell" in experiment:
        return [experiment["cell"](*given, i) for i in columns]
    row = experiment["row"](*given)
    return [row[i] for i in columns]


def computed(experiment, words):
    """One row of the table, computed now."""
    formats = experiment["FORMATS"]
    numbers = numbers_of(experiment, words, range(len(formats)))
    return line([words, *(form.format(number) for form, number in zip(
        formats, numbers, strict=True))])


def again(experiment, table):
    """How far QUICK, computed now, is from the table, over its tolerance."""
    words, column = experiment["QUICK"], None
    if not isinstance(words, str):
        words, column = words
    formats = experiment["FORMATS"]
    columns = range(len(formats)) if column is None else [column]
    stored = rows(table)[words].strip("| ").split(" | ")[1:]
    new = numbers_of(experiment, words, columns)
    return apart(line(["", *(stored[i] for i in columns)]),
                 line(["", *(formats[i].format(number) for i, number
                             in zip(columns, new, strict=True))])
                 ) / experiment["TOLERANCE"]


def head(experiment):
    """The lines of the table above its rows."""
    names = experiment["COLUMNS"]
    return [line(names), line(["---"] + ["---:"] * (len(names) - 1))]


def rows(table):
    """{words: line} of the rows of a table."""
    lines = [text for text in table.splitlines() if text.startswith("| ")]
    return {text.split(" | ")[0][2:]: text for text in lines[2:]}


def numbers(text):
    """The numbers of a row."""
    text = text.split(" | ", 1)[1]
    return [float(cell.strip("%")) for cell in text.split()
            if re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?%?", cell)]


def broken(experiment, table):
    """What the chapter says and the table does not show."""
    found = {words: numbers(text) for words, text in rows(table).items()}
    return [words for words, holds in experiment.get("HOLDS", {}).items()
            if not holds(found)]


def apart(old, new):
    """The largest relative difference between the numbers of two rows."""
    return max(abs(a - b) / max(abs(a), 1e-300) if a != b else 0
               for a, b in zip(numbers(old), numbers(new), strict=True))


def rerun(path, write):
    """Compute a table, row after row; how many rows are not as stored."""
    experiment, store = run_path(str(path)), path.with_suffix(".md")
    stored = rows(store.read_text("utf-8")) if store.exists() else {}
    lines, wrong = head(experiment), 0
    print(f"{path.stem}: {experiment['QUESTION']}", *lines, sep="\n")
    for words in experiment["ROWS"]:
        lines.append(computed(experiment, words))
        old = stored.get(words)
        bound = experiment.get("TOLERANCES", {}).get(
            words, experiment["TOLERANCE"])
        same = old and apart(old, lines[-1]) <= bound
        wrong += not (same or write)
        print(lines[-1], "" if same or write else f"  stored: {old}",
              flush=True)
    for words in broken(experiment, "\n".join(lines)):
        print("  does not hold:", words)
        wrong += 1
    if write:
        text = [f"# {experiment['QUESTION']}", "", *lines, ""]
        store.write_text("\n".join(text), "utf-8")
    return wrong


def main(arguments):
    write = "--write" in arguments
    named = [word for word in arguments if word != "--write"]
    paths = [path for path in SCRIPTS
             if not named or path.name[:2] in named]
    if not paths:
        sys.exit(f"no experiment {' '.join(named)}: there are "
                 f"{', '.join(path.stem for path in SCRIPTS)}")
    wrong = sum(rerun(path, write) for path in paths)
    print(f"{wrong} rows differ from their table")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
