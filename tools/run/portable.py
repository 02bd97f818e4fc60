"""Run chapters as other processors would, and compare with what is stored.

python -m tools.run.portable [NN ...]

Each setting is tried alone, in fresh kernels; a first probe says which of
them this processor lacks, and which change nothing here. Text must
be the same; a picture may move by half of the tolerance of `make test`; no
cell may raise; what differs below one that did may follow from it. Cells
tagged nbval-ignore-output run and are not compared. Pictures that differ are
saved in _build/pictures. ARM, macOS and Windows have a workflow of their own.
"""

import difflib
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed

from course.chapter import Chapter, chapters
from course.code import Cell
from tools.run.pictures import pictures, unlike
from tools.run.repeatable import execute  # before the first kernel

Changes = dict[str, list[str]]          # {cell id: what went wrong in it}

SETTINGS: dict[str, dict[str, str]] = {
    "plain": {},
    **{core: {"OPENBLAS_CORETYPE": core}
       for core in ("Haswell", "Zen", "SkylakeX", "Sandybridge")},
    **{f"torch {level}": {"ATEN_CPU_CAPABILITY": level}
       for level in ("default", "avx2", "avx512")},
    **{f"MKL {branch}": {"MKL_CBWR": branch}
       for branch in ("COMPATIBLE", "AVX2")},
    **{f"NumPy without {features}": {"NPY_DISABLE_CPU_FEATURES": features}
       for features in ("X86_V4", "X86_V4 X86_V3")},
}
LIMIT = 0.5    # of the tolerance of `make test`: room for other processors
VARIABLES = {"OPENBLAS_L2_SIZE"}.union(*SETTINGS.values())
PROBE = """
import hashlib, numpy as np, torch
x = np.random.default_rng(0).normal(size=(203, 203))
for a in x, x.astype("f4"):
    t = torch.from_numpy(a)
    for y in (a @ a, np.exp(a), np.tanh(a), np.sin(a), a.sum(0), t @ t,
              t.exp(), t.tanh(), t.sum(1), t.softmax(-1), t.abs().pow(0.3),
              torch.nn.functional.layer_norm(t, (203,))):
        print(hashlib.sha256(np.asarray(y).tobytes()).hexdigest()[:8])
"""


def environment(setting: str) -> dict[str, str]:
    """The variables of a kernel under `setting`, and no other setting's."""
    kept = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    return kept | SETTINGS[setting]


def probe(setting: str) -> str | None:
    """A fingerprint of sums and functions under `setting`; None: it fails."""
    ran = subprocess.run([sys.executable, "-c", PROBE], text=True,
                         capture_output=True, env=environment(setting))
    return ran.stdout if ran.returncode == 0 else None


def sift(fingerprints: Mapping[str, str | None]) -> dict[str, str | None]:
    """From {setting: fingerprint} {setting: None, or why it is skipped}."""
    first: dict[str | None, str] = {}
    why: dict[str, str | None] = {}
    for setting, fingerprint in fingerprints.items():
        same = first.setdefault(fingerprint, setting)
        why[setting] = (
            "this processor lacks it" if fingerprint is None else
            f"the same as {same} here" if same != setting else None)
    return why


def is_compared(cell: Cell) -> bool:
    """Has it outputs that must be the same?"""
    return (cell.cell_type == "code"
            and "nbval-ignore-output" not in cell.metadata.get("tags", []))


def text(cell: Cell) -> list[str]:
    """What a cell says beside its pictures, line by line."""
    lines = []
    for output in cell.outputs:
        data = {kind: words for kind, words in output.get("data", {}).items()
                if kind != "image/png"}
        shown = output.get("text", "") + "".join(map(str, data.values()))
        lines += [output.get("name", output.output_type), *shown.splitlines()]
    return [line for line in lines if "<Figure size" not in line]


def changes(new: Iterable[Cell], stored: Iterable[Cell]) -> Changes:
    """What cells that ran again raise, or say in other words."""
    wrong: Changes = {}
    for cell, before in zip(new, stored, strict=True):
        lines = [f"raises {output.ename}: {output.evalue}".splitlines()[0]
                 for output in cell.get("outputs", [])
                 if output.output_type == "error"]
        if is_compared(cell) and not lines:
            lines = [line for line in difflib.unified_diff(
                         text(before), text(cell), n=0, lineterm="")
                     if not line.startswith(("---", "+++", "@@"))]
        if lines:
            wrong[cell.id] = lines
    return wrong


def redrawn(new: Iterable[Cell], stored: Iterable[Cell],
            name: str) -> Changes:
    """Which pictures a reader could tell apart; files begin with `name`."""
    return {cell.id: lines for cell, before in zip(new, stored, strict=True)
            if is_compared(cell) and (lines := unlike(
                f"{name}-{cell.id}", [*pictures(before.outputs)],
                [*pictures(cell.outputs)], LIMIT))}


def run(chapter: Chapter, setting: str) -> Changes:
    """What differs in a whole chapter."""
    new = execute(chapter.notebook, chapter.path.parent, environment(setting),
                  timeout=3600, allow_errors=True).cells
    wrong = changes(new, chapter.cells)
    name = f"{chapter.number}-{setting.replace(' ', '-')}"
    for cell, lines in redrawn(new, chapter.cells, name).items():
        wrong.setdefault(cell, []).extend(lines)
    return wrong


def row(chapter: Chapter, setting: str, wrong: Changes) -> str:
    """One line of the table, and below it what went wrong, cell by cell."""
    return "\n".join([
        f"{chapter.number}  {setting:28} {len(wrong)} cells differ",
        *(f"      {cell}: {line[:160]}" for cell, lines in wrong.items()
          for line in lines[:12])])


def main(chosen: Iterable[Chapter], jobs: int = 2) -> bool:
    """Run each chapter under each setting; whether any of them failed."""
    why = sift({setting: probe(setting) for setting in SETTINGS})
    for setting, reason in why.items():
        print(f"skipped: {setting} ({reason})" if reason else
              f"    run: {setting}", flush=True)
    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        started = {pool.submit(run, chapter, setting): (chapter, setting)
                   for setting in SETTINGS if not why[setting]
                   for chapter in chosen}
        for done in as_completed(started):
            try:
                wrong = done.result()
            except (RuntimeError, TimeoutError) as error:  # a dead kernel
                wrong = {"kernel": [f"raises {error}"]}
            failed += bool(wrong)
            print(row(*started[done], wrong), flush=True)
    print(f"{len(started)} runs, {failed} with failures")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(chapters(*sys.argv[1:])))
