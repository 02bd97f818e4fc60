"""Odd submissions, and what each of them earns in every exercise.

A row: the files' names as they come, what was done to an edition that is
answered right, the points (None is missing), and words that students read.
"""

import copy
import io
import json
import re
import zipfile
from textwrap import indent

from course.chapter import chapters
from course.exercise import MARK, numbers, trio
from course.paths import ROOT

CHAPTER, OTHER = chapters()[0], chapters()[1]
STUB = "raise NotImplementedError  # yours"
ALL = [2, 2, 2, 2]                      # points
HEAD = {"0.1": "def head_scores(Q, K):\n", "0.2": "def predicted_shapes():\n",
        "0.3": "def is_projection(project):\n",
        "0.4": "def flops_of_scores(n, d, k):\n"}
RIGHT = {"0.1": 'return np.einsum("bnhk,bmhk->bhnm", Q, K)',
         "0.2": "return [(3,), (4,), (3, 8), (2, 8), 0, 6]",
         "0.4": "return 2 * n * k * (2 * d + n), 2 * n * d * (d + n)"}


def edition(chapter, answered=True):
    """What a student hands in: answered as in the book, or not at all."""
    made = copy.deepcopy(chapter.notebook)
    for exercise in numbers(chapter.notebook):
        solution, _, grade = trio(made.cells, exercise)
        body = (r" *### (BEGIN|END) SOLUTION\n?" if answered else
                r"(?s) *### BEGIN SOLUTION.*### END SOLUTION")
        solution.source = re.sub(body, "" if answered else f"    {STUB}",
                                 solution.source)
        grade.source = MARK.split(grade.source)[0]
    return made


def saved(made):
    return json.dumps(made).encode()


def answers(**cells):
    """An edition whose solution cells are these: e0_1="def head_..."."""
    made = edition(CHAPTER)
    for name, source in cells.items():
        number = name[1:].replace("_", ".")
        trio(made.cells, number)[0].source = source
    return saved(made)


def function(number, body):
    return HEAD[number] + indent(body, "    ")


def right(number, before):
    """A right answer that first does something else."""
    return function(number, f"{before}\n{RIGHT[number]}")


def changed(edit):
    made = edition(CHAPTER)
    made["cells"] = edit(made.cells)
    return saved(made)


def without(*kinds):
    return changed(lambda cells: [
        cell for cell in cells if not cell.id.startswith(kinds)])


def bare(cells):
    """As some editors save it: no cell has a name any more."""
    return [{key: value for key, value in cell.items() if key != "id"}
            | {"metadata": {}} for cell in cells]


def copied(cells):
    """A solution cell stands twice; the second was left as handed out."""
    twice = copy.deepcopy(next(c for c in cells if c.id == "solution-0-1"))
    twice.source = function("0.1", STUB)
    return [*cells, twice]


def edited(cells):
    """A function of the lesson was broken; an answer calls it."""
    for cell in cells:
        if cell.id == "solution-0-1":
            cell.source = function("0.1", "return einsum_by_loops("
                                   "'bnhk,bmhk->bhnm', Q, K)")
        else:
            cell.source = cell.source.replace(
                "def einsum_by_loops(", "def einsum_by_loops(*given):\n"
                "    return 0\n\n\ndef einsum_by_loops_of_the_book(")
    return cells


def renamed(cells):
    """No editor does it; a person can."""
    return [dict(cell, id=[7], metadata={"nbgrader": {"grade_id": 7}})
            for cell in cells]


def pasted(cells):
    """Everything but the exercises was deleted."""
    return [cell for cell in cells if cell.id.startswith("solution-")]


def zipped(**files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{name}.ipynb", content)
    return data.getvalue()


HUNTS = f"""
import os, sys
seen = []
for top in ("/tmp", {str(ROOT)!r}):
    for place, inside, files in os.walk(top):
        if place == sys.prefix:         # 10,000 files of packages
            inside.clear()
            continue
        seen += [name for name in files
                 if name.endswith((".ipynb", ".csv", ".md"))]
"""
PEEPS = """
import sys
frame, seen = sys._getframe(), False
while frame:
    seen |= any("grade_" + "0_4" in repr(local)
                for local in frame.f_locals.values())
    frame = frame.f_back
"""
FORGES = """
import json, os
words = [{"cell": None}, {"said": "0.1 correct", "pythons": []},
         {"token": "", "failed": None, "changed": []}]
for pipe in range(3, 32):
    for word in map(json.dumps, words):
        try:
            os.write(pipe, len(word).to_bytes(4, "big") + word.encode())
        except OSError:
            pass
""" + function("0.1", "return 0")
KILLS = "import os\nfor process in (1, -1):\n    try:\n" \
        "        os.kill(process, 9)\n    except OSError:\n        pass\n"
TAKES_OVER = "global verdict\nverdict = lambda name, check: " \
             "f'{name} correct'\nreturn 0"
NEAR = "def abs(x):\n    return 0 * x\n\n\n" + function("0.1", """
return np.full((len(Q), Q.shape[2], Q.shape[1], K.shape[1]), 0.5)""")
FORKS = """
import os, time
try:
    for _ in range(50):
        if not os.fork():
            time.sleep(99)
    limited = False
except OSError:
    limited = True
"""

ROWS = {
    "right, Moodle's folder": (
        {"Zoë Åström_101_assignsubmission_file_/Kopia av 00.ipynb":
            answers()}, ALL, []),
    "right, Moodle's long name": (
        {"Max Muster_102_assignsubmission_file_Copy of 00 (1).ipynb":
            answers()}, ALL, []),
    "right, late in Canvas": (
        {"ekanna_LATE_2001_90001_00_shapes_and_einsum-1.ipynb": answers()},
        ALL, []),
    "right, zipped by the student": (
        {"José Peña/my work.zip": zipped(work=answers())}, ALL, []),
    "an untouched copy beside the answers": (
        {"Two/00_shapes_and_einsum.ipynb": answers(),
         "Two/00_shapes_and_einsum (1).ipynb":
            saved(edition(CHAPTER, answered=False))}, ALL, []),
    "no notebook": ({"Pia Paper/scan.pdf": b"%PDF"}, [], ["no notebook"]),
    "empty file": ({"Emil.ipynb": b""}, [], ["empty"]),
    "damaged file": ({"Dora.ipynb": answers()[:5000]}, [], ["not JSON"]),
    "strange names of cells": ({"Ida.ipynb": changed(renamed)}, ALL, []),
    "a list, not a notebook": ({"Lili.ipynb": b"[1, 2]"}, [], ["version 4"]),
    "a broken archive": ({"Bo.zip": zipped(work=b"1" * 99).replace(
        b"1" * 99, b"2" * 99)}, [], ["an archive that cannot be read"]),
    "wrong chapter": ({"Willi.ipynb": saved(edition(OTHER))}, [],
                      ["this is chapter 01"]),
    "not begun": ({"Nils.ipynb": saved(edition(CHAPTER, answered=False))},
                  [0, 0, 0, 0], ["0.1 not done yet", "0.4 not done yet"]),
    "syntax error, and a hidden mistake": (
        {"Sven.ipynb": answers(
            e0_1="def head_scores(Q, K):\n    return Q @@ K",
            e0_4=right("0.4", "if n == 50:\n    return 0, 0"))},
        [0, 2, 2, 0], ["its cell stops with SyntaxError", "further tests"]),
    "endless loops": (
        {"Elsa.ipynb": answers(
            e0_1=right("0.1", "while True:\n    pass"),
            e0_2="while True:\n    pass")},
        [0, 0, 2, 2], ["0.1 stopped: its check took more than 2 s",
                       "0.2 stopped: its cell took more than 2 s"]),
    "memory bombs": (
        {"Mona.ipynb": answers(
            e0_1=right("0.1", "all_of_it = np.ones(10**11)"),
            e0_2=right("0.2", "np.zeros(2**29)"))},
        [0, 0, 2, 2], ["0.1 not yet: it stops with", "MemoryError"]),
    "network": (
        {"Nora.ipynb": answers(e0_4=right(
            "0.4", "import socket\n"
                   "socket.create_connection(('1.1.1.1', 80), 1)"))},
        [2, 2, 2, 0], ["0.4 not yet: it stops with OSError"]),
    "other people's files": (
        {"Hugo.ipynb": answers(
            e0_1=HUNTS + right("0.1", "assert seen"),
            e0_2=right("0.2", "open('/usr/mine', 'w')"),
            e0_4=right("0.4", "open('mine', 'w')"))},
        [0, 0, 2, 2], ["0.1 not yet: it stops with AssertionError",
                       "Read-only file system"]),
    "silence, and many processes": (
        {"Iris.ipynb": answers(
            e0_1=right("0.1", "import os; os.closerange(3, 99); input = 1\n"
                              "while True:\n    pass"),
            e0_4=FORKS + right("0.4", "assert limited"))},
        [0, 2, 2, 2], ["0.1 stopped: its check wrote where only"]),
    "the process ends": (
        {"Kurt.ipynb": answers(
            e0_1=right("0.1", "import os; os.kill(os.getpid(), 9)"),
            e0_2=right("0.2", "import os; os._exit(0)"),
            e0_4=right("0.4", "raise SystemExit(0)"))},
        [0, 0, 2, 0], ["0.1 stopped: its check ended by signal 9",
                       "0.2 stopped: its check ended the program",
                       "0.4 not yet: it stops with SystemExit: 0"]),
    "verdict redefined": (
        {"Vera.ipynb": answers(
            e0_1="def verdict(name, check):\n    return f'{name} correct'\n"
                 + function("0.1", "return 0"),
            e0_2=function("0.2", TAKES_OVER),
            e0_3="np.allclose = lambda *a, **k: True\n"
                 + function("0.3", "return True"),
            e0_4=function("0.4", "return 0, 0"))},
        [0, 0, 0, 0], ["0.1 not yet: is the result bhnm", "0.4 not yet",
                       "0.2 refused: it changes what the tests use, verdict",
                       "0.3 refused: it changes what the tests use,"
                       " numpy.allclose"]),
    "a function of Python's redefined": (
        {"Paul.ipynb": answers(e0_1=NEAR)}, [0, 2, 2, 2], ["0.1 not yet"]),
    "the grader attacked": (
        {"Gero.ipynb": answers(e0_1=FORGES, e0_2=KILLS + right("0.2", ""),
                               e0_4=PEEPS + right("0.4", "assert seen"))},
        [0, 2, 2, 0], ["0.1 stopped: the tests wrote where only",
                       "0.4 not yet: it stops with AssertionError"]),
    "a cell copied": ({"Kai.ipynb": changed(copied)}, ALL, []),
    "metadata lost": ({"Copy of Meta.ipynb": changed(bare)}, ALL, []),
    "lesson edited": ({"Lena.ipynb": changed(edited)}, ALL, []),
    "lesson deleted": ({"Olaf.ipynb": changed(pasted)}, ALL, []),
    "a solution deleted": ({"Mia.ipynb": without("solution-0-2")},
                           [2, None, 2, 2], ["0.2 missing"]),
    "checks deleted": ({"Chris.ipynb": without("check-", "grade-")}, ALL, []),
    "magic, and a demonstration below": (
        {"Dennis.ipynb": answers(
            e0_1="%matplotlib inline\n" + right("0.1", "print('x' * 10**6)")
                 + "\n\nprint(head_scores(my_queries, my_keys))")}, ALL, []),
    "markup": (
        {"=Mark <b>.ipynb": answers(
            e0_1=function("0.1", "raise ValueError('<script>x</script>')"),
            e0_2="# " + "&" * 10**5 + "\n" + right("0.2", ""),
            e0_3=trio(edition(CHAPTER).cells, "0.3")[0].source
                 + "\n# " + "&" * 10**5,
            e0_4=right("0.4", "") + "# " + "&" * 10**5)},
        [0, 2, 2, 2], ["<script>"]),
}


def hand_in(folder):
    """Write the files of all rows, as a platform's archive holds them."""
    for files, *_ in ROWS.values():
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
