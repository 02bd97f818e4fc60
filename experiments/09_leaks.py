"""How low does an open answer, or a leak, bring a student of chapter 09?

One layer, as in the chapter, seeds 0 to 4: its loss in training, whole
sentences given, and in the exam, beginnings given. The floor is 0.398.
"""

from functools import cache
from statistics import median
from types import SimpleNamespace
from typing import Any

from course.chapter import chapter
from experiments.experiment import Experiment

NAMES: dict[str, Any] = {}
exec(chapter("09").definitions, NAMES)
exec(chapter("09").cell("text").source, NAMES)
CHAPTER = SimpleNamespace(**NAMES)


@cache
def losses(rule: str, kind: str, seed: int) -> tuple[float, float]:
    """Of one student: in training and in the exam."""
    student = CHAPTER.taught(getattr(CHAPTER, rule), seed,
                             kind=getattr(CHAPTER, kind))
    return (CHAPTER.training_loss(student).mean().item(),
            CHAPTER.exam_loss(student).mean().item())


def cell(rule: str, kind: str, column: int) -> float:
    """Lowest, median and highest, or how many are below the floor."""
    if column == 0:
        return losses(rule, kind, 0)[0]
    both = [losses(rule, kind, seed) for seed in range(5)]
    training, exam = zip(*both, strict=True)
    return (min(training), median(training), max(training),
            sum(x < 0.398 for x in training), min(exam), median(exam),
            max(exam), sum(b > a + 0.1 for a, b in both))[column - 1]


EXPERIMENT = Experiment(
    question="How low does a leak bring a student?",
    columns=["student", "seed 0", "lowest in training", "median", "highest",
             "of five below the floor", "lowest in the exam", "median",
             "highest", "of five worse in the exam"],
    rows={"answers open": ("open_book", "Student"),
          "causal mask": ("causal_mask", "Student"),
          "softmax, then zeros": ("causal_mask", "LateStudent"),
          "mask off by one": ("one_ahead", "Student")},
    cell=cell, formats=["{:.2f}"] * 4 + ["{:.0f}"] + ["{:.2f}"] * 3
    + ["{:.0f}"],
    quick="causal mask", quick_column=0, tolerance=0.03,
    tolerances={"softmax, then zeros": 0.5, "answers open": 0.5},
    holds={
        "0.12 and 0.30 and 0.08": lambda table: [table[label][0] for label in (
            "answers open", "softmax, then zeros", "mask off by one")] == [
                0.12, 0.30, 0.08],
        "open: all below": lambda table: table["answers open"][4] == 5,
        "zeros: two below": lambda table: table[
            "softmax, then zeros"][4] == 2,
        "zeros: all worse": lambda table: table[
            "softmax, then zeros"][8] == 5,
        "causal: none": lambda table: table["causal mask"][8] == 0})
