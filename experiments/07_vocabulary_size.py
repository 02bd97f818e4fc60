"""What do more merges give, and what do they take?

Merges are learned from the first nine tenths of Tiny Shakespeare, cut as
chapter 07 cuts a text, pair by pair as its learn_merges does; here equal
pieces are counted once, so that thousands of merges take seconds (a tie may
be broken otherwise). Per number of merges: rows of the table, bytes and
merged tokens together; characters per token in the last tenth, which the
merges have not seen; of all rows made by merges, the median number of
occurrences in the training text, and the share of rows that occur fewer than
ten times there (a token that a later merge swallows may hardly be left). The
text comes from where chapter 14 takes it.
"""

from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from statistics import median

from course.chapter import functions
from experiments.experiment import Experiment
from experiments.shakespeare import AnotherText

CHAPTER = functions("07")
Pair = tuple[int, int]


@cache
def pieces() -> tuple[Counter[str], Counter[str]]:
    """The pieces of the training text and of the test, with their numbers."""
    text, title = functions("14").course_text()
    if title != "Tiny Shakespeare":
        raise AnotherText(f"the table is Tiny Shakespeare's, not {title}'s")
    cut = len(text) * 9 // 10
    return (Counter(CHAPTER.pre_tokenize(text[:cut])),
            Counter(CHAPTER.pre_tokenize(text[cut:])))


def learned(known: Counter[str], n_merges: int) -> list[Pair]:
    """Merges of a text whose different pieces are counted."""
    words = [[*piece.encode()] for piece in known]
    numbers = [*known.values()]
    counts: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[int]] = defaultdict(set)
    for i, (word, number) in enumerate(zip(words, numbers, strict=True)):
        for pair in pairwise(word):
            counts[pair] += number
            where[pair].add(i)
    merges: list[Pair] = []
    while len(merges) < n_merges:
        pair = max(counts, key=counts.__getitem__)
        if counts[pair] < 2:
            break
        for i in where.pop(pair):
            for old in pairwise(words[i]):
                counts[old] -= numbers[i]
            words[i] = CHAPTER.merge_pair(words[i], pair, 256 + len(merges))
            for new in pairwise(words[i]):
                counts[new] += numbers[i]
                where[new].add(i)
        merges.append(pair)
    return merges


def cut(known: Counter[str], merges: list[Pair]) -> Counter[int]:
    """How often each id occurs in a text of these pieces."""
    rank = {pair: r for r, pair in enumerate(merges)}
    ids: Counter[int] = Counter()
    for piece, number in known.items():
        word = [*piece.encode()]
        while len(word) > 1:                # lowest first, as Deeper says
            pair = min(pairwise(word), key=lambda p: rank.get(p, len(rank)))
            if pair not in rank:
                break
            word = CHAPTER.merge_pair(word, pair, 256 + rank[pair])
        for token in word:
            ids[token] += number
    return ids


def row(n_merges: int) -> list[float]:
    """Rows, characters per token, uses of the median merged row, rare ones."""
    known, new = pieces()
    merges = learned(known, n_merges)
    ids = cut(known, merges)
    uses = [ids[256 + r] for r in range(n_merges)]
    return [256 + n_merges,
            sum(len(p) * k for p, k in new.items()) / cut(new, merges).total(),
            median(uses), sum(k < 10 for k in uses) / len(uses)]


EXPERIMENT = Experiment(
    question="What do more merges give, and what do they take?",
    columns=["merges", "rows of the table", "characters per token",
             "uses of the median row", "rows used fewer than ten times"],
    rows={f"{n:,}": (n,) for n in (250, 1000, 4000, 11_000)},
    row=row, formats=["{:.0f}", "{:.2f}", "{:.0f}", "{:.0%}"],
    quick="250", tolerance=0.01,
    holds={
        "a fifth shorter": lambda rows: 0.79 < (
            rows["1,000"][1] / rows["4,000"][1]) < 0.83,
        "17 uses, not 140": lambda rows: 7 < (
            rows["1,000"][2] / rows["4,000"][2]) < 10,
        "another tenth": lambda rows: 0.88 < (
            rows["4,000"][1] / rows["11,000"][1]) < 0.92,
        "four of five": lambda rows: 75 < rows["11,000"][3] < 85})
