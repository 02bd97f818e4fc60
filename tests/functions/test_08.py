"""Chapter 08's functions against PyTorch, float64 and their own promises."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course.chapter import chapter, functions
from experiments.experiment import read_table

CHAPTER = functions("08")
rarely = settings(deadline=None, max_examples=50)
seeds, sizes = st.integers(0, 10**6), st.integers(1, 6)
leads = st.sampled_from([(), (1,), (4,), (2, 3), (2, 1, 3)])
scales = st.sampled_from([1e-3, 1.0, 30.0, 1e4])


def draw(seed, lead, n, m, d_k, d_v, scale=1.0):
    """Signed queries of one scale, values of very different scale."""
    rng = np.random.default_rng(seed)
    Q = scale * rng.normal(size=(*lead, n, d_k))
    K = rng.normal(size=(*lead, m, d_k)) + rng.normal()
    V = rng.normal(size=(*lead, m, d_v)) * 10 ** rng.uniform(-2, 2, d_v)
    return Q, K, V


def pytorch(Q, K, V):
    return F.scaled_dot_product_attention(
        *map(torch.tensor, (Q, K, V))).numpy()


@rarely
@given(seeds, leads, sizes, sizes, sizes, sizes, scales)
def test_attention_is_pytorchs(seed, lead, n, m, d_k, d_v, scale):
    Q, K, V = draw(seed, lead, n, m, d_k, d_v, scale)
    got = CHAPTER.attention(Q, K, V)
    assert got.shape == (*lead, n, d_v)
    assert np.allclose(got, pytorch(Q, K, V), atol=1e-8)


@pytest.mark.parametrize("dtype, close", [(np.float32, 1e-5),
                                          (np.float64, 1e-13)])
def test_attention_keeps_its_format(dtype, close):
    Q, K, V = draw(0, (2, 3), 5, 7, 4, 6)
    V /= np.abs(V).max()
    given_, wide = [a.astype(dtype) for a in (Q, K, V)], pytorch(Q, K, V)
    got = CHAPTER.attention(*given_)
    assert got.dtype == dtype and np.abs(got - wide).max() < close


@rarely
@given(seeds, leads, sizes, sizes, sizes, scales)
def test_weights_are_weights(seed, lead, n, m, d_k, scale):
    Q, K, V = draw(seed, lead, n, m, d_k, 2, scale)
    weights = CHAPTER.attention_weights(Q, K)
    assert np.allclose(weights.sum(axis=-1), 1) and (weights >= 0).all()
    entropy = CHAPTER.entropy(weights)
    assert (entropy >= 0).all() and (entropy <= math.log(m) + 1e-12).all()
    Y = CHAPTER.attention(Q, K, V)
    assert (Y <= V.max(axis=-2, keepdims=True) + 1e-9).all()
    assert (Y >= V.min(axis=-2, keepdims=True) - 1e-9).all()


def test_entropy():
    weights = np.array([[1, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0]])
    got = CHAPTER.entropy(weights)
    assert np.allclose(got, [0, math.log(4), math.log(2)])
    assert not np.signbit(got).any()                # 0, never -0
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(6), size=(2, 3))
    want = torch.distributions.Categorical(torch.tensor(weights)).entropy()
    assert np.allclose(CHAPTER.entropy(weights), want)


def test_slope():
    A = np.random.default_rng(0).normal(size=(3, 4))
    assert np.allclose(CHAPTER.slope(lambda q: q @ A, np.ones(3)), A)
    assert np.allclose(CHAPTER.slope(lambda q: q**2, np.array([1.0, -3])),
                       [[2, 0], [0, -6]])


@pytest.mark.parametrize("d_k, divisor", [(4, 1), (16, 4), (9, 9)])
def test_query_gradients(d_k, divisor):
    """The same draw, by PyTorch and its autograd."""
    rng = np.random.default_rng(5)
    K, Q = (torch.tensor(rng.normal(size=(n, d_k))) for n in (128, 400))
    dA = torch.tensor(rng.normal(size=(400, 128)))
    Q.requires_grad_()
    A = (Q @ K.mT / divisor).softmax(dim=-1)
    (A * dA).sum().backward()
    largest, norms = CHAPTER.query_gradients(d_k, divisor, 5)
    assert np.allclose(largest, A.detach().amax(dim=-1))
    assert np.allclose(norms, Q.grad.norm(dim=-1))


@rarely
@given(seeds, leads, sizes, sizes, sizes)
def test_module_is_attention(seed, lead, n, m, d_k):
    torch.manual_seed(seed)
    layer = CHAPTER.Attention(5, d_k, 3).double()
    X = torch.randn(*lead, n, 5).double()
    Z = torch.randn(*lead, m, 5).double()
    for of, given_ in ((Z, (X, Z)), (X, (X,))):
        Q, K, V = layer.W_Q(X), layer.W_K(of), layer.W_V(of)
        want = CHAPTER.attention(*(a.detach().numpy() for a in (Q, K, V)))
        assert np.allclose(layer(*given_).detach(), want)


@pytest.mark.parametrize("exercise", ["8_1", "8_2", "8_4"])
def test_numbers_of_exercises(exercise):
    """The references of the paper exercises, by another way."""
    rng = np.random.default_rng(0)
    if exercise == "8_1":
        Q, K, V, c = (rng.normal(size=s) for s in ((1, 4), (5, 4), (5, 2), 4))
        s, t = (Q @ K.T / 2)[0], (Q @ c)[0] / 2
        want = [CHAPTER.attention_weights(Q, K + c)[0, 0],
                CHAPTER.attention_weights(2 * Q, K / 2)[0, 0],
                CHAPTER.attention_weights(2 * Q, K)[0, 0],
                CHAPTER.attention_weights(Q, K[[0, *range(5)]])[0, :2].sum(),
                (CHAPTER.attention(Q, K, V + t) - CHAPTER.attention(Q, K, V)
                 )[0, 0]]
        assert np.allclose(CHAPTER.reference_8_1(s, t), want)
    elif exercise == "8_2":
        q, k = rng.normal(size=(2, 20_000, 64)) * [[[3]], [[5]]]
        std, own, factor = CHAPTER.reference_8_2(64, 3, 5)
        assert np.isclose((q * k).sum(axis=-1).std(), std, rtol=0.03)
        assert np.isclose((q * q).sum(axis=-1).mean() / 8, own, rtol=0.01)
        assert round(CHAPTER.reference_8_2(64, 1, 1)[2]) == 2981
    else:
        S = rng.integers(3, size=(20_000, 2, 2))
        same = (S[:, 0, 0] == S[:, 1, 1]) & (S[:, 0, 1] == S[:, 1, 0])
        assert abs(same.mean() - CHAPTER.reference_8_4(S[0])[1]) < 0.01


@pytest.fixture(scope="module")
def trained():
    """What the cells of the trained layer define, run."""
    names = {}
    for cell in chapter("08").code:
        if cell.id in ("imports", "sentences", "train", "train-run"):
            exec(cell.source, names)
    return SimpleNamespace(**names)


def test_sentences(trained):
    assert len(trained.sentences.unique(dim=0)) == 432
    words = [[trained.WORDS[i] for i in row] for row in trained.sentences]
    assert "Mia gave Leo a drum he thanked her for it".split() in words
    he = {"he": trained.MEN, "she": trained.WOMEN}
    for text in words:
        giver, gave, getter, a, thing, who, thanked, whom, *_ = text
        assert (gave, a, thanked) == ("gave", "a", "thanked")
        assert getter in he[who].split() and thing in trained.THINGS.split()
        assert giver in he["she" if who == "he" else "he"].split()
        assert whom == {"he": "her", "she": "him"}[who]


@pytest.mark.parametrize("divisor", [1, 8])
def test_a_look_is_attention_of_the_pronouns(trained, divisor):
    E = torch.randn(27, 64, generator=torch.Generator().manual_seed(1))
    W = torch.randn(3, 64, 64, generator=torch.Generator().manual_seed(2)) / 8
    rows = trained.sentences[::50]
    Y, A = trained.look(E, W, rows, divisor)
    X = E[rows]
    want = F.scaled_dot_product_attention(
        *(X @ matrix for matrix in W), scale=1 / divisor)
    assert torch.allclose(Y, want[:, [5, 7, 9]], atol=1e-4)
    assert A.shape == (9, 3, 10)
    assert torch.allclose(A.sum(dim=-1), torch.ones(9, 3))


def test_trained_look_up(trained):
    """Training leaves what it should, and accuracy counts right answers."""
    E, W, train, test = trained.train_look(3, 8, n_steps=0)
    _, W_1, *_ = trained.train_look(3, 8, n_steps=1)
    assert len(torch.cat([train, test]).unique(dim=0)) == 432
    assert torch.equal(W[2], torch.eye(64)) and torch.equal(W_1[2], W[2])
    for before, after in zip(W[:2], W_1, strict=False):
        assert torch.allclose((after - before).abs(), torch.tensor(0.003),
                              atol=1e-4)
    _, W_3, *_ = trained.train_look(3, 8, n_learned=3, n_steps=0)
    assert torch.equal(W_3[0], W[0]) and 0.1 < W_3[2].std() < 0.15
    small = trained.train_look(3, 8, start=0.01, n_steps=0)[1]
    assert torch.allclose(small[0], W[0] * 0.08)
    right = trained.look(E, W, test, 8)[0]
    distance = (right[:, :, None] - E).norm(dim=-1)
    want = (distance.argmin(-1) == test[:, [2, 0, 4]]).double().mean()
    assert trained.accuracy(E, W, test, 8) == want.item()


def test_the_picture_of_lost_look_ups_has_the_numbers_of_its_experiment():
    names = {}
    cell = chapter("08").cell("fate").source
    exec("import numpy as np\n" + cell.partition("fig, ax")[0], names)
    rows = [*read_table("08_lost_look_ups").numbers.values()][:5]
    assert [row[0] for row in rows] == names["number"]
    assert [row[2] for row in rows] == names["right"].tolist()
    assert [row[3:] for row in rows] == names["quarters"].T.tolist()


def test_first_step_is_adams(trained):
    scope = vars(trained) | {"math": math, "np": np}
    exec(chapter("08").cell("first-step").source.partition("print(")[0], scope)
    g = torch.Generator().manual_seed(4)
    E = torch.randn(27, 64, generator=g)
    W = (torch.randn(2, 64, 16, generator=g) / 8).requires_grad_()
    optimizer = torch.optim.Adam([W], lr=0.003)
    rows, right = trained.sentences[::4], []
    for _ in range(2):
        S = E[rows] @ W[0] @ (E[rows] @ W[1]).mT / 4
        right.append(S.detach()[:, [5, 7, 9], [2, 0, 4]].mean().item())
        Y = (S.softmax(dim=-1) @ E[rows])[:, [5, 7, 9]]
        optimizer.zero_grad()
        F.mse_loss(Y, E[rows[:, [2, 0, 4]]]).backward()
        optimizer.step()
    assert np.isclose(scope["first_step"](16, 4, 4), right[1] - right[0],
                      rtol=0.01)
