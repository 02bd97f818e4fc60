"""The lowest possible loss of each word of a kite story.

The best reader knows the grammar of kite.story and has understood what it
has read. It follows every way in which a story of the training (seven gifts,
one to four questions) can go on, and gives each next word its true
probability. No reader has a smaller expected loss.
"""

import math
from collections.abc import Sequence
from functools import cache

from experiments.kite import KiteWorld

PEOPLE = KiteWorld.women + KiteWorld.men
N, THANKS, TO, THEN = 7, 2, 3, 2                # of kite.story
QUESTIONS = range(1, 5)                         # of kite.kite_batches
Chances = dict[str, float]


@cache
def orders(counts: tuple[int, int, int], left: int) -> int:
    """How likely three things are to be given so often, up to a factor:
    summed over the gifts that are left, the product of the final counts."""
    if left == 0:
        return math.prod(counts)
    return sum(orders((counts[0] + (i == 0), counts[1] + (i == 1),
                       counts[2] + (i == 2)), left - 1) for i in range(3))


def next_things(given: Sequence[str]) -> Chances:
    """How likely each thing is to be given next."""
    seen = [*dict.fromkeys(given)]
    counts = [*(given.count(thing) for thing in seen), 0, 0, 0][:3]
    left = N - len(given) - 1

    def with_one(k: int) -> int:
        """The k-th thing is given once more."""
        a, b, c = (count + (i == k) for i, count in enumerate(counts))
        return orders((a, b, c), left)

    found: Chances = {thing: with_one(k) for k, thing in enumerate(seen)}
    new = [thing for thing in KiteWorld.things if thing not in seen]
    for thing in new if len(seen) < 3 else []:
        found[thing] = (3 - len(seen)) * with_one(len(seen)) / len(new)
    return scaled(found)


def scaled(chances: Chances) -> Chances:
    """Without what is impossible; the sum is 1."""
    total = sum(chances.values())
    return {word: p / total for word, p in chances.items() if p}


def mixed(p: float, one: Chances, other: Chances) -> Chances:
    """One with probability p, else the other."""
    return scaled({word: p * one.get(word, 0) + (1 - p) * other.get(word, 0)
                   for word in {**one, **other}})


def asks(i: int, asked: int) -> float:
    """How likely a question is after gift i, with so many before it."""
    if i in (0, N - 1):
        return float(i == N - 1)
    rest = N - 2 - i                            # places after this one
    ways = [(math.comb(N - 2, q - 1), q - 1 - asked) for q in QUESTIONS]
    now = sum(math.comb(rest, k - 1) / all_ways
              for all_ways, k in ways if k >= 1)
    ever = sum(math.comb(rest + 1, k) / all_ways
               for all_ways, k in ways if k >= 0)
    return now / ever


class Reader:
    """Reads a story, and notes the chances of each word before it reads it."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words, self.chances = words, list[Chances]()
        self.given, self.owner = list[str](), dict[str, str]()

    def read(self, chances: Chances) -> str:
        """The next word. Raises ValueError where the grammar has no such."""
        word = self.words[len(self.chances)]
        if word not in chances:
            raise ValueError(f"{word!r} for one of {sorted(chances)}")
        self.chances.append(chances)
        return word

    def read_certain(self, words: str) -> None:
        """Words that are the only possible ones."""
        for word in words.split():
            self.read({word: 1.0})

    def givers(self) -> Chances:
        """Who gives next: the owner of a thing, anybody if it is new."""
        chances = dict.fromkeys(PEOPLE, 0.0)
        for thing, p in next_things(self.given).items():
            owners = [self.owner[thing]] if thing in self.owner else PEOPLE
            for person in owners:
                chances[person] += p / len(owners)
        return scaled(chances)

    def gift(self, giver: str, to: float) -> tuple[str, str]:
        """The words after the giver. -> who receives what."""
        gives = scaled({
            thing: p * (self.owner[thing] == giver if thing in self.owner
                        else 1 / len(PEOPLE))
            for thing, p in next_things(self.given).items()})
        the = sum(p for thing, p in gives.items() if thing in self.owner)
        article = scaled({"a": 1 - the if the < 1 - 1e-12 else 0, "the": the})
        others = scaled({who: 1.0 for who in PEOPLE if who != giver})

        def thing(word: str) -> str:
            """A new one after "a", a known one after "the"."""
            return self.read(scaled({
                thing: p for thing, p in gives.items()
                if (thing in self.owner) == (word == "the")}))

        self.read_certain("gave")
        word = self.read(mixed(to, article, others))
        if word in article:
            what = thing(word)
            self.read_certain("to")
            who = self.read(others)
        else:
            who, what = word, thing(self.read(article))
        self.read_certain(".")
        return who, what


def best(words: Sequence[str]) -> list[Chances]:
    """The true probabilities of each word, before it is read."""
    reader, asked = Reader(words), 0
    left = {"thanks": THANKS, "to": TO, "then": THEN}
    start = mixed(left["then"] / N, {"then": 1.0}, reader.givers())
    for i in range(N):
        word = reader.read(start)
        if word == "then":
            left["then"] -= 1
            word = reader.read(reader.givers())
        giver, before = word, [*reader.given]
        form = len(reader.chances) + 1
        who, what = reader.gift(giver, left["to"] / (N - i))
        left["to"] -= words[form] in ("a", "the")
        reader.given.append(what)
        reader.owner[what] = who
        if i < N - 1:
            start = mixed(left["then"] / (N - i - 1), {"then": 1.0},
                          reader.givers())
        start = mixed(asks(i, asked), {"who": 1.0}, start)
        she = "she" if who in KiteWorld.women else "he"
        thanks = left["thanks"] / (N - i)
        if words[len(reader.chances)] == she:
            reader.read(mixed(thanks, {she: 1.0}, start))
            left["thanks"] -= 1
            him = "her" if giver in KiteWorld.women else "him"
            reader.read_certain(f"thanked {him} for it .")
        else:
            start = mixed(thanks, {she: 1.0}, start)
        if words[len(reader.chances)] == "who":
            reader.read(start)
            asked += i < N - 1
            reader.read_certain("has the")
            lost = reader.read(scaled({f"{thing}?": before.count(thing)
                                       for thing in before}))[:-1]
            reader.read_certain(f"{reader.owner[lost]} .")
            if i < N - 1:
                start = mixed(left["then"] / (N - i - 1), {"then": 1.0},
                              reader.givers())
    reader.read_certain("<end>")
    return reader.chances


def lowest_losses(words: Sequence[str]) -> list[float]:
    """Of each word but the first: minus the log of its true probability.

    Its mean over many stories is the lowest possible loss.
    """
    return [-math.log(chances[word]) for chances, word
            in zip(best(words), words, strict=True)][1:]


def entropies(words: Sequence[str]) -> list[float]:
    """Of each word but the first: what it costs the best reader on average,
    as in ln 7 where seven words are equally likely."""
    return [-sum(p * math.log(p) for p in chances.values())
            for chances in best(words)][1:]
