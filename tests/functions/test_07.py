"""Chapter 07's functions against PyTorch, brute force and Python's codecs."""

import math
import random
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.chapter import chapter, functions
from experiments import kite

CHAPTER = functions("07")
rarely = settings(deadline=None, max_examples=50)
seeds = st.integers(0, 10**6)
leads = st.sampled_from([(), (1,), (4,), (2, 3)])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
HANDS = ["hat", " that", " chat", " cats"]


def draw(seed, *shape):
    """Signed rows of very different sizes."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape)
            * 10 ** rng.uniform(-2, 2, size=(*shape[:-1], 1)))


def lowest_first(piece, merges):
    """Another encoder: join the pair that was learned first, and repeat."""
    rank = {pair: r for r, pair in enumerate(merges)}
    ids = list(piece.encode())
    while len(ids) > 1:
        pair = min(pairwise(ids), key=lambda p: rank.get(p, math.inf))
        if pair not in rank:
            break
        joined, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                joined.append(256 + rank[pair])
                i += 2
            else:
                joined.append(ids[i])
                i += 1
        ids = joined
    return ids


@rarely
@given(seeds, leads, st.integers(1, 6), st.integers(1, 9))
def test_look_up_is_pytorchs_and_the_product(seed, lead, n, n_vocab):
    E = draw(seed, n_vocab, 3)
    ids = np.random.default_rng(seed).integers(0, n_vocab, size=(*lead, n))
    got = CHAPTER.look_up(ids, E)
    theirs = torch.nn.functional.embedding(torch.tensor(ids), torch.tensor(E))
    assert np.array_equal(got, theirs)
    assert np.array_equal(got, np.eye(n_vocab)[ids] @ E)
    assert np.array_equal(CHAPTER.look_up(ids.tolist(), E), got)


@pytest.mark.parametrize("ids", [[-1], [0, 5], [[0, 1], [4, -2]], [-1, 5]])
def test_look_up_refuses_numbers_outside_the_table(ids):
    with pytest.raises(ValueError, match=r"0\.\.4"):
        CHAPTER.look_up(ids, np.ones((5, 2)))
    assert CHAPTER.look_up([0, 4], np.ones((5, 2))).shape == (2, 2)


def test_look_up_of_nothing_is_empty():
    ids = np.empty((2, 0), int)
    assert CHAPTER.look_up(ids, np.ones((5, 3))).shape == (2, 0, 3)


def test_merges_by_hand():
    assert CHAPTER.learn_merges(HANDS, 10) == [(97, 116), (104, 256), (32, 99)]
    assert CHAPTER.learn_merges(HANDS, 2) == [(97, 116), (104, 256)]
    assert CHAPTER.learn_merges(HANDS, 0) == []
    assert CHAPTER.learn_merges([], 5) == []
    assert CHAPTER.learn_merges(["ab", "cd"], 5) == []      # each pair once
    assert CHAPTER.learn_merges(["cdcd", "abab"], 1) == [(99, 100)]     # a tie


@rarely
@given(st.lists(st.text("ab ", max_size=12), max_size=6))
def test_each_merge_is_the_most_frequent_pair(pieces):
    merges = CHAPTER.learn_merges(pieces, 8)
    for r, (a, b) in enumerate(merges):
        words = [CHAPTER.encode_pieces([p], merges[:r]) for p in pieces]
        counts = CHAPTER.pair_counts(words)
        assert counts[a, b] == max(counts.values()) >= 2


@pytest.mark.parametrize("ids, pair, want", [
    ([5, 5, 5], (5, 5), [9, 5]), ([5, 5, 5, 5], (5, 5), [9, 9]),
    ([1, 2, 1], (1, 2), [9, 1]), ([2, 1], (1, 2), [2, 1]), ([], (1, 2), []),
    ([1], (1, 1), [1]), ([1, 1, 2], (1, 2), [1, 9])])
def test_merge_pair_goes_from_the_left(ids, pair, want):
    given = list(ids)
    assert CHAPTER.merge_pair(given, pair, 9) == want
    assert given == ids


@rarely
@given(texts, texts, seeds)
def test_round_trip(text, other, seed):
    rng = np.random.default_rng(seed)
    drawn = [tuple(rng.integers(0, 256 + r, size=2).tolist())
             for r in range(20)]
    for merges in (drawn, CHAPTER.learn_merges([text, other, text], 30)):
        ids = CHAPTER.encode_pieces([other, text], merges)
        assert CHAPTER.decode_ids(ids, merges) == other + text
        assert all(0 <= i < 256 + len(merges) for i in ids)


@rarely
@given(st.text("abc é", max_size=30), st.text("abc é", max_size=30))
def test_replaying_is_lowest_first(training, piece):
    merges = CHAPTER.learn_merges([training, training], 30)
    assert CHAPTER.encode_pieces([piece], merges) == lowest_first(piece, merges)


def test_token_bytes_and_half_characters():
    table = CHAPTER.token_bytes([(97, 116), (104, 256)])
    assert table[:256] == [bytes([i]) for i in range(256)]
    assert table[256:] == [b"at", b"hat"]
    assert CHAPTER.decode_ids([195], []) == "\ufffd"
    assert CHAPTER.decode_ids([195, 169], []) == "é"
    assert CHAPTER.decode_ids([], []) == ""


@rarely
@given(texts)
def test_pieces_join_to_the_text(text):
    assert "".join(CHAPTER.pre_tokenize(text)) == text


@pytest.mark.parametrize("text, want", [
    ("The dog", ["The", " dog"]), ("a  b", ["a", " ", " b"]),
    ("it's 24!", ["it", "'", "s", " 24", "!"]), ("x_1", ["x", "_", "1"]),
    (" \n\n", [" \n\n"]), ("", []), ("a ", ["a", " "])])
def test_pieces(text, want):
    assert CHAPTER.pre_tokenize(text) == want


def kite_cells():
    """What the cells of the kite stories define, their words included."""
    names = {"random": random, "np": np}
    for cell in chapter("07").code:
        if cell.id in ("kite-words", "kite-stories"):
            exec(cell.source, names)
    return SimpleNamespace(**names)


KITE = kite_cells()
KITE_WORDS = """Anna Eva Mia Zoe Tom Leo Max Ben kite drum ball book lamp cup
kite? drum? ball? book? lamp? cup? . gave a the to then he she thanked him her
for it who has <end>""".split()


def owners(words):
    """Who has which thing at the end of a story, read word by word."""
    has = {}
    for i, word in enumerate(words):
        if word == "gave":
            a, b, c, d = words[i + 1:i + 5]
            has |= {b: d} if c == "to" else {c: a}
    return has


@rarely
@given(seeds, st.integers(3, 9), st.integers(0, 3), st.integers(0, 3),
       st.integers(0, 3))
def test_a_kite_story_is_the_experiments(seed, gifts, thanks, to, then):
    for questions in (1, min(3, gifts - 1)):
        form = gifts, thanks, to, then, questions
        words = KITE.story(random.Random(seed), *form)
        assert words == kite.story(random.Random(seed), *form)
        assert len(words) == (6 * gifts + 6 * thanks + to + then
                              + 6 * questions + 1)


@rarely
@given(seeds)
def test_kite_stories_are_told_in_36_words_and_answered(seed):
    texts = KITE.stories(4, seed)
    assert texts == kite.stories(4, seed)
    ids = KITE.word_ids(texts)
    assert ids.shape == (4, 66)
    assert ids.dtype.kind == "i"
    assert [[KITE_WORDS[i] for i in row] for row in ids] == texts
    for words in texts:
        *_, who, has, the, asked, answer, stop, end = words
        assert (who, has, the, stop, end) == ("who", "has", "the", ".",
                                              "<end>")
        assert owners(words)[asked.removesuffix("?")] == answer


def test_the_kite_words():
    assert KITE_WORDS == KITE.WORDS
    assert KITE_WORDS == KITE.WOMEN + KITE.MEN + KITE.THINGS + KITE.WORDS[14:]
    assert KITE.word_ids([KITE_WORDS]).tolist() == [[*range(36)]]
    with pytest.raises(KeyError, match="Tim"):
        KITE.word_ids([["Tim"]])


def test_training_leaves_the_row_that_no_text_names():
    texts = torch.arange(10)[None]                  # words 0 to 9
    start, end, U = CHAPTER.train_rows(texts, 0, d_model=3, n_steps=5)
    assert start.shape == end.shape == U.T.shape == (27, 3)
    assert torch.equal(start[10:], end[10:])
    assert not torch.isclose(start[:10], end[:10]).any()


def test_initial_loss_of_equal_rows_is_uniform():
    E = np.ones((50, 4)) * np.arange(4)
    loss = CHAPTER.initial_loss(E, np.random.default_rng(0))
    assert math.isclose(loss, math.log(50))


def test_train_table_has_all_steps():
    E = CHAPTER.train_table(lambda E: torch.optim.SGD([E], lr=0.1), 3,
                            np.random.default_rng(0))
    assert E.shape == (4, 6, 4)
    step = 0.1 * (1 - torch.tanh(E[0, 2]) ** 2)
    assert torch.allclose(E[1, 2], E[0, 2] - step)
    assert torch.equal(E[3, 2:], E[1, 2:])


def test_the_tied_table_is_one_parameter():
    model = CHAPTER.TiedEmbedding(9, 4)
    (weight,) = model.parameters()
    ids = torch.tensor([[3, 8]])
    assert torch.equal(model(ids), weight[ids])
    assert torch.allclose(model.head(model(ids)), weight[ids] @ weight.T)
