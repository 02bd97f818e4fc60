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


def added(*sources, e0_1):
    """Cells put in on top, and an answer that leans on them."""
    def edit(cells):
        trio(cells, "0.1")[0].source = function(
            "0.1", f"Q = {e0_1} * 2\n{RIGHT['0.1']}")
        return [*({"cell_type": "code", "metadata": {}, "source": source,
                   "id": f"own-{n}"} for n, source in enumerate(sources)),
                *cells]
    return edit


def within(e0_1, **more):
    """Lines put into cells of the lesson, by id; an answer leans on them."""
    def edit(cells):
        trio(cells, "0.1")[0].source = function(
            "0.1", f"Q = {e0_1}\n{RIGHT['0.1']}")
        for cell in cells:
            cell.source += more.get(cell.id.replace("-", "_"), "")
        return cells
    return edit


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
            archive.writestr(name if "." in name else f"{name}.ipynb", content)
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
NEAR = "def abs(x):\n    return 0 * x\n\n\n" + function("0.1", """
return np.full((len(Q), Q.shape[2], Q.shape[1], K.shape[1]), 0.5)""")
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
        [0, 0, 2, 2], ["0.1 stopped: your code took more than 1 s",
                       "0.2 stopped: your code took more than 1 s"]),
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
    "the process ends": (
        {"Kurt.ipynb": answers(
            e0_1=right("0.1", "import os; os.kill(os.getpid(), 9)"),
            e0_2=right("0.2", "import os; os._exit(0)"),
            e0_4=right("0.4", "raise SystemExit(0)"))},
        [0, 0, 2, 0], ["0.1 stopped: your code ended by signal 9",
                       "0.2 stopped: your code ended the program",
                       "0.4 not yet: it stops with SystemExit: 0"]),
    "it sleeps": ({"Siri.ipynb": answers(
        e0_1=right("0.1", "import time; time.sleep(999)"))},
        [0, 2, 2, 2], ["0.1 stopped: your code took more than 1 s"]),
    "helpers in cells of their own": (
        {"Hanna.ipynb": changed(added("from math import sqrt as root\n"
                                      "%matplotlib inline",
                                      "%time SCALE = [0, 1]",
                                      "while True: pass",
                                      "def half(x):\n    return x / SCALE[1]",
                                      "%%time\nTWO = root(4)",
                                      e0_1="half(Q) / TWO"))},
        ALL, ["not taken: IPython's lines (%, !, ?)"]),
    "helpers in cells of the lesson": (
        {"Tove.ipynb": changed(within(
            "half(Q) * root(4)", imports="\nfrom math import sqrt as root",
            check_0_1="\n\ndef half(x):\n    return x / 2"))}, ALL, []),
    "helpers that hide their names": (
        {"Otto.ipynb": changed(added(
            "try:\n    from nothing import half\nexcept ImportError:\n"
            "    def half(x):\n        return x / TABLE[0] / MORE[0]",
            "from cmath import *", "TABLE, MORE = {}, []\nfor i in range(3):\n"
            "    TABLE[i] = 1 + abs(phase(1))\nMORE.append(2)",
            e0_1="half(Q)"))}, ALL, []),
    "shown on the way": (
        {"Dina.ipynb": answers(e0_1=right("0.1", "display(Q)"))}, ALL, []),
    "values of the lesson": (
        {"Vera.ipynb": answers(e0_1=right("0.1", "Q = Q + 0 * Q_heads[:1]"))},
        [0, 2, 2, 2], ["not taken: values that cells of the lesson make"
                       " (Q_heads)\n", "name 'Q_heads' is not defined"]),
    "a package that is not there": (
        {"Paco.ipynb": changed(added("from nothing import half",
                                     e0_1="half(Q)"))},
        [0, 2, 2, 2], ["(a cell of yours stops with ModuleNotFoundError: No"]),
    "IPython's lines in an answer": (
        {"Ivo.ipynb": answers(
            e0_1="%%time\n" + right("0.1", "here = !pwd"),
            e0_2=right("0.2", "") + "\npredicted_shapes?\n!pip list",
            e0_4="%matplotlib inline\n%%time\n" + right("0.4", ""))},
        [2, 2, 2, 2], ["not taken: IPython's lines (%, !, ?)"]),
    "a cell of a shell": (
        {"Bea.ipynb": answers(e0_1="%%bash\n" + right("0.1", ""))},
        [0, 2, 2, 2], ["not taken: a cell of %%bash", "0.1 not yet: no fun"]),
    "a huge cell": (
        {"Gro.ipynb": answers(e0_1=right("0.1", "") + "\n" + "#" * 10**5)},
        [0, 2, 2, 2], ["not taken: a cell of more than 100 kB"]),
    "photographs": (
        {"Phil.ipynb": changed(lambda cells: [
            *cells, {"cell_type": "markdown", "metadata": {}, "id": "photo",
                     "source": "", "attachments": {"a": {
                         "image/png": "A" * 30 * 2**20}}}])}, ALL, []),
    "an archive in an archive": ({"Zoe/all.zip": zipped(**{"in.zip": zipped(
        work=answers())})}, ALL, []),
    "half an emoji": (
        {"Emo.ipynb": answers(
            e0_1="# \ud83d\n" + right("0.1", "raise ValueError('\\ud83d')"),
            e0_2="# \ud83d\n" + right("0.2", ""))}, [0, 2, 2, 2], []),
    "a long name": ({f"{'n' * 240}.ipynb": answers()}, ALL, []),
    "a name in Latin-1": ({"J\udcf6rg.ipynb": answers()}, ALL, []),
    "a line break in a name": ({"Li\nne.ipynb": answers()}, ALL, []),
    "a notebook in Latin-1": (
        {"Lars.ipynb": answers(e0_1="# \xe4\n" + right("0.1", "")).replace(
            b"\\u00e4", b"\xe4")}, ALL, []),
    "deeply nested": ({"Nessi.ipynb": b"[" * 10**6}, [], ["not JSON"]),
    "parentheses": (
        {"Paran.ipynb": answers(e0_1="(" * 9999 + right("0.1", ""),
                                e0_2=right("0.2", "") + "\n" + "-" * 9999
                                + "1", e0_4="x" + ".x" * 30_000)},
        [0, 0, 2, 0], ["0.1 not yet", "0.2 not yet", "0.4 not yet"]),
    "a cell copied": ({"Kai.ipynb": changed(copied)}, ALL, []),
    "metadata lost": ({"Copy of Meta.ipynb": changed(bare)}, ALL, []),
    "lesson edited": ({"Lena.ipynb": changed(edited)}, ALL, []),
    "lesson deleted": ({"Olaf.ipynb": changed(pasted)}, ALL, []),
    "a solution deleted": ({"Mia.ipynb": without("solution-0-2")},
                           [2, None, 2, 2], ["0.2 missing"]),
    "checks deleted": ({"Chris.ipynb": without("check-", "grade-")}, ALL, []),
    "a demonstration below": (
        {"Dennis.ipynb": answers(
            e0_1=right("0.1", "print('x' * 10**6)")
                 + "\n\nprint(head_scores(my_queries, my_keys))")}, ALL, []),
    "markup": (
        {"=Mark <b>.ipynb": answers(
            e0_1=function("0.1", "raise ValueError('<script>x</script>')"),
            e0_2="# " + "&" * 90_000 + "\n" + right("0.2", ""),
            e0_3=trio(edition(CHAPTER).cells, "0.3")[0].source
                 + "\n# " + "&" * 90_000,
            e0_4=right("0.4", "") + "# " + "&" * 90_000)},
        [0, 2, 2, 2], ["<script>"]),
}


def hand_in(folder):
    """Write the files of all rows, as a platform's archive holds them."""
    for files, *_ in ROWS.values():
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


# Attacks: the points that they earn, the exercise, what its function does.
FRAMES = """
import sys
frame = sys._getframe()
while frame:
    for name, value in {**frame.f_globals, **frame.f_locals}.items():
        if name.startswith(("want", "reference", "check", "token", "given_")):
            return value if name.startswith("want") else value(Q, K)
    frame = frame.f_back
"""
SEND = """
import json, os
def send(message, raw=b""):
    data = raw or json.dumps(message).encode()
    for pipe in range(3, 20):
        try:
            os.write(pipe, len(data).to_bytes(4, "big") + data)
        except OSError:
            pass
"""
SHAPE = "(2, Q.shape[2], Q.shape[1], K.shape[1])"
ZEROS = f"return np.zeros({SHAPE})"
LIES = """
class Lies(np.ndarray):
    def __eq__(self, other): return np.array(True)
    def __array__(self, *rest, **more): return self
    def __array_ufunc__(self, *rest, **more): return np.array(True)
    def __float__(self): return eval("want")
    def __reduce__(self): return print, ("0.1 correct",)
"""


def patched(*names):
    return "".join(f"{name} = lambda *a, **k: True\n" for name in names)


def thrown(words):
    return f"class E({words}): pass\nraise E('0.1 correct')"


ATTACKS = {
    "the reference called": (0, "0.1", "return reference_0_1(Q, K)"),
    "frames": (0, "0.1", FRAMES + ZEROS),
    "inspect": (0, "0.1", "import inspect\nfor step in inspect.stack():\n"
                "    for value in step.frame.f_locals.values():\n"
                "        if getattr(value, 'shape', 0) == (2, 4, 3, 5):\n"
                "            return value\n" + ZEROS),
    "f_back": (0, "0.1", "import inspect\n"
               "return inspect.currentframe().f_back.f_locals['want']"),
    "the line printed": (0, "0.1", "print('0.1 correct')\n" + ZEROS),
    "the line sent": (0, "0.1", SEND + "send({'said': '0.1 correct'})\n"
                      "send({'points': 2, 'failed': None})\n" + ZEROS),
    "a result sent": (0, "0.1", SEND + "send({'result': 1})\n" * 9 + ZEROS),
    "an error sent": (0, "0.1", SEND + "send({'error': {'kinds': ['Late'],"
                      " 'words': '0.1 correct', 'bare': 1}})\n" + ZEROS),
    "an end sent": (0, "0.1", SEND + "send({'ended': '0.1 correct'})"),
    "a call sent": (0, "0.1", SEND + "send({'call': 0, 'given': ['tuple',"
                    " ['tuple'], ['dict']]})\n" + ZEROS),
    "a handle sent": (0, "0.1", SEND + "send({'result': ['yours', 0]})"),
    "other arguments sent": (0, "0.1", SEND + "send({'result': 0, 'given':"
                             " ['tuple', ['list', 1], ['dict']]})"),
    "half a message": (0, "0.1", SEND + "send(0, b'{')"),
    "a deep message": (0, "0.1", SEND + "send(0, b'[' * 10**6)"),
    "an endless message": (0, "0.1", "import os\nfor pipe in range(3, 20):\n"
                           "    try: os.write(pipe, b'\\xff' * 99)\n"
                           "    except OSError: pass"),
    "pipes closed": (0, "0.1", "import os; os.closerange(0, 99)"),
    "pipes that do not wait": (0, "0.1", "import os\nfor pipe in 3, 4:\n"
                               "    os.set_blocking(pipe, False)\n" + ZEROS),
    "json patched": (0, "0.1", "import json\nold = json.dumps\njson.dumps ="
                     " lambda m, **k: old({**m, 'failed': None})\n" + ZEROS),
    "the program patched": (0, "0.1", "import __main__ as m\n"
                            "m.run = m.answer = m.Peer.pack = print\n"
                            "m.Peer.serve = lambda *a: '0.1 correct'"),
    "words that cut to nothing": (0, "0.1", "class S(str):\n    def"
                                  " __getitem__(self, key): return None\n"
                                  "raise AssertionError(S('0.1 correct'))"),
    "an array that lies": (0, "0.1", LIES + "return np.zeros(1).view(Lies)"),
    "an array of the shape that lies": (0, "0.1", LIES + f"return np.zeros("
                                        f"{SHAPE}).view(Lies)"),
    "numbers that look": (0, "0.4", LIES + "return Lies(1), Lies(1)"),
    "numbers that are equal": (0, "0.4", "class One(int):\n    def __eq__"
                               "(self, other): return True\n    __hash__ = "
                               "None\nreturn One(), One()"),
    "a list that is equal": (0, "0.2", "class L(list):\n    def __eq__(*a): "
                             "return True\n    def __len__(self): return 6\n"
                             "return L()"),
    "a dictionary": (0, "0.2", "class D(dict):\n    def __missing__(self, k):"
                     " return 0\nreturn D()"),
    "a coin": (0, "0.3", "class C:\n    n = 0\n    def __bool__(self):\n"
               "        C.n += 1; return C.n < 3\nreturn C()"),
    "a projection opened": (0, "0.3", "return vars(project)['peer']"
                            ".here[0].__closure__"),
    "a thread": (0, "0.1", FRAMES.replace("import sys", "import sys, threading"
                 "\nthreading.Thread(target=lambda: [sys._current_frames()"
                 " for _ in range(99)]).start()") + ZEROS),
    "threads that write": (0, "0.1", SEND + "import threading\nfor _ in range"
                           "(8):\n    threading.Thread(target=lambda: [send({"
                           "'result': 1}) for _ in range(99)]).start()\n"
                           + ZEROS),
    "autograd patched": (0, "0.1", "__import__('tor' + 'ch').autograd.grad"
                         " = lambda *a: [0]\n" + ZEROS),
    "numpy patched": (0, "0.1", patched(
        "np.allclose", "np.array_equal", "np.asarray", "np.array",
        "np.isfinite") + "return 0"),
    "numpy patched, rightly answered": (2, "0.4", patched(
        "np.allclose", "np.array_equal") + RIGHT["0.4"]),
    "the judge's names replaced": (0, "0.1", "global verdict, close\n"
                                   + patched("close", "verdict") + ZEROS),
    "copies patched": (0, "0.1", "import copy\n" + patched(
        "copy.deepcopy", "copy.copy") + ZEROS),
    "modules replaced": (0, "0.1", "import sys\nsys.modules['numpy'] = "
                         "sys.modules['json'] = sys\n" + ZEROS),
    "arguments emptied": (0, "0.1", "Q[:] = 0; K[:] = 0\n" + ZEROS),
    "arguments emptied where no test looks": (
        0, "0.1", RIGHT["0.1"].replace("return", "scores =")
        + "\nif (Q == 1).all(): Q[:] = 0\nreturn scores"),
    "arguments reshaped": (0, "0.1", "Q.resize(0, refcheck=False)\n"
                           + RIGHT["0.1"]),
    "arguments remembered": (0, "0.1", "kept = globals().setdefault('kept', "
                             "[])\nkept += [Q, K]\nreturn kept[0]"),
    "the collector": (0, "0.1", "import gc\nfor x in gc.get_objects():\n"
                      "    if getattr(vars(type(x)).get('shape'), '__get__', 0)"
                      ":\n        if x.shape == (2, 4, 3, 5): return x\n"
                      + ZEROS),
    "memory of processes": (0, "0.1", "for n in 'self', 1, 2:\n    try: "
                            "open(f'/proc/{n}/mem', 'r+b').seek(0)\n"
                            "    except OSError: pass\n" + ZEROS),
    "no such address": (0, "0.1", "import ctypes; ctypes.string_at(0)"),
    "pickle": (0, "0.1", "class P:\n    def __reduce__(self): return print,"
               " ('0.1 correct',)\nreturn P()"),
    "a generator": (0, "0.2", "yield from [(3,), (4,), (3, 8), (2, 8), 0, 6]"),
    "the process ends": (0, "0.1", "import os; os._exit(0)"),
    "processes": (0, "0.1", "import os\nwhile True: os.fork()"),
    "all killed, rightly answered": (2, "0.4", "import os\nfor who in 1, -1, "
                                     "os.getppid():\n    try: os.kill(who, 9)"
                                     "\n"
                                     "    except OSError: pass\n"
                                     + RIGHT["0.4"]),
    "endless output": (0, "0.1", "while True: print('x' * 10**6)"),
    "too much": (0, "0.1", "return np.ones(10**7)"),
    "far too much": (0, "0.1", "return np.broadcast_to(0.0, (10**6, 10**6))"),
    "a long number": (0, "0.4", "return 10**5000, 1"),
    "not numbers": (0, "0.1", f"return np.full({SHAPE}, np.nan)"),
    "infinite": (0, "0.4", "return float('inf'), float('nan')"),
    "nested": (0, "0.2", "x = []\nfor _ in range(10**5): x = [x]\nreturn x"),
    "in itself": (0, "0.2", "x = [0] * 6\nx[:] = [x] * 6\nreturn x"),
    "objects": (0, "0.1", f"return np.full({SHAPE}, object())"),
    "objects that are right": (2, "0.4", "import fractions\nreturn [*map("
                               "fractions.Fraction, [" + RIGHT["0.4"][7:]
                               + "])]"),
    "text": (0, "0.1", f"return np.full({SHAPE}, '1')"),
    "a file in bytes": (0, "0.1", "return memoryview(b'1')"),
    "atexit": (0, "0.1", "import atexit; atexit.register(print, '0.1 correct')"
               "\n" + ZEROS),
    "signals ignored": (0, "0.1", "import signal\nfor n in 14, 15, 24:\n"
                        "    signal.signal(n, signal.SIG_IGN)\n"
                        "while True: pass"),
    "a trace": (0, "0.1", "import sys\nsys.settrace(lambda f, *a: [f.f_locals"
                ".update(want=0)])\n" + ZEROS),
    "recursion": (0, "0.1", "return head_scores(Q, K)"),
    "an error that says correct": (0, "0.1", thrown("Exception")),
    "the end of all": (0, "0.1", thrown("KeyboardInterrupt")),
    "an error named correct": (0, "0.1", "raise type('0.1 correct\\n', ("
                               "Exception,), {})"),
    "an end of iteration": (0, "0.1", thrown("StopIteration")),
    "not done, it says": (0, "0.1", thrown("NotImplementedError")),
}
