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
from concurrent.futures import ThreadPoolExecutor, as_completed
from copy import deepcopy

from nbclient import NotebookClient

from course.chapter import chapter, chapters
from tools.run.pictures import distance, pictures, save
from tools.run.repeatable import QUIET  # before the first kernel

SETTINGS = {
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


def environment(setting):
    """The variables of a kernel under `setting`, and no other setting's."""
    kept = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    return kept | SETTINGS[setting]


def probe(setting):
    """A fingerprint of sums and functions under `setting`; None: it fails."""
    ran = subprocess.run([sys.executable, "-c", PROBE], text=True,
                         capture_output=True, env=environment(setting))
    return ran.stdout if ran.returncode == 0 else None


def sift(found):
    """From {setting: fingerprint} {setting: None, or why it is skipped}."""
    first, why = {}, {}
    for setting, fingerprint in found.items():
        same = first.setdefault(fingerprint, setting)
        why[setting] = (
            "this processor lacks it" if fingerprint is None else
            f"the same as {same} here" if same != setting else None)
    return why


def text(output):
    """What an output says beside its pictures, line by line."""
    shown = {kind: data for kind, data in output.get("data", {}).items()
             if kind != "image/png"}
    said = output.get("text", "") + "".join(map(str, shown.values()))
    return [output.get("name", output.output_type), *said.splitlines()]


def compare(cell, stored):
    """(largest distance, what went wrong) of a `cell` that ran again."""
    errors = [output for output in cell.outputs
              if output.output_type == "error"]
    if errors:
        [first, *_] = errors[0].evalue.splitlines() or [""]
        return 0, [f"raises {errors[0].ename}: {first}"]
    if "nbval-ignore-output" in cell.metadata.get("tags", []):
        return 0, []
    old, new = ([line for output in each.outputs for line in text(output)]
                for each in (stored, cell))
    wrong = [line for line in difflib.unified_diff(old, new, n=0, lineterm="")
             if not line.startswith(("---", "+++", "@@"))]
    old, new = [*pictures(stored.outputs)], [*pictures(cell.outputs)]
    if len(old) != len(new):
        return 0, [*wrong, f"{len(new)} pictures, not {len(old)}"]
    far = max(map(distance, old, new), default=0)
    return far, wrong + [f"picture: {far:.2f} of the tolerance"] * (far > LIMIT)


def run(chapter, setting):
    """(largest distance, {cell id: what went wrong}) of a whole chapter."""
    stored, notebook = chapter.notebook, deepcopy(chapter.notebook)
    NotebookClient(
        notebook, timeout=3600, allow_errors=True, coalesce_streams=True,
        record_timing=False, kernel_name="python3",
        extra_arguments=QUIET,
        resources={"metadata": {"path": str(chapter.path.parent)}},
    ).execute(env=environment(setting))
    farthest, failures = 0, {}
    for new, old in zip(notebook.cells, stored.cells, strict=True):
        if new.cell_type == "code":
            far, wrong = compare(new, old)
            farthest = max(farthest, far)
            if wrong:
                failures[new.id] = wrong
            if far > LIMIT:
                name = f"{chapter.number}-{new.id}-{setting.replace(' ', '-')}"
                for pair in zip(pictures(old.outputs), pictures(new.outputs),
                                strict=True):
                    save(name, *pair)
    return farthest, failures


def row(chapter, setting, farthest, failures):
    """One line of the table, and below it what went wrong, cell by cell."""
    texts, errors = (
        sum(any(each.startswith(signs) for each in told)
            for told in failures.values())
        for signs in (("+", "-"), "raises "))
    line = (f"{chapter.number}  {setting:28} pictures {farthest:5.2f}   "
            f"text {texts:2}   errors {errors:2}")
    return "\n".join([line, *(f"      {cell}: {each[:160]}"
                              for cell, told in failures.items()
                              for each in told[:12])])


def main(chosen, jobs=2):
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
                farthest, failures = done.result()
            except (RuntimeError, TimeoutError) as error:  # a dead kernel
                farthest, failures = 0, {"kernel": [f"raises {error}"]}
            failed += bool(failures)
            print(row(*started[done], farthest, failures), flush=True)
    print(f"{len(started)} runs, {failed} with failures")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main([*map(chapter, sys.argv[1:])] or chapters()))
