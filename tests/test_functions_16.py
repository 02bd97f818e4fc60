"""Chapter 16's functions against loops over pairs, PyTorch and closed forms."""

import numpy as np
import pytest
import torch
from chapters import functions
from torch.nn import functional as F

CHAPTER = functions("16")
FRONTS = [(), (3,), (2, 3)]


def sequences(front, seed=0, n=11, d_k=5, d_v=4):
    """Signed Q, K, V and beta, rows of very different size."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-1, 0, size=(*front, n, 1))
    Q, K = rng.normal(size=(2, *front, n, d_k)) * size
    V = rng.normal(size=(*front, n, d_v))
    return Q, K, V, rng.uniform(size=(*front, n))


def test_write_and_read_are_an_outer_and_an_inner_product():
    rng = np.random.default_rng(1)
    state, k, v = (rng.normal(size=shape) for shape in ((4, 5), 5, 4))
    before = state.copy()
    wrote = CHAPTER.write_sum(state, k, v)
    np.testing.assert_allclose(wrote, state + np.outer(v, k), atol=1e-15)
    np.testing.assert_allclose(CHAPTER.read_memory(wrote, k), wrote @ k)
    CHAPTER.write_delta(state, k, v, np.array(0.5))
    np.testing.assert_array_equal(state, before)    # nothing in place


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_write_delta_is_a_step_of_sgd(beta):
    rng = np.random.default_rng(2)
    state, k, v = (rng.normal(size=shape) for shape in ((4, 5), 5, 4))
    leaf = torch.tensor(state, requires_grad=True)
    sgd = torch.optim.SGD([leaf], lr=beta)
    ((torch.tensor(v) - leaf @ torch.tensor(k)) ** 2).sum().div(2).backward()
    sgd.step()
    np.testing.assert_allclose(
        CHAPTER.write_delta(state, k, v, np.array(beta)), leaf.detach(),
        atol=1e-14)


@pytest.mark.parametrize("activation", [lambda A: A, np.tanh])
def test_the_programmer_is_its_recurrence(activation):
    rng = np.random.default_rng(3)
    X, W_A, W_B = (rng.normal(size=s) for s in ((6, 5), (5, 3), (5, 5)))
    Y, states = CHAPTER.fast_weight_programmer(X, W_A, W_B, activation)
    state = np.zeros((3, 5))
    for t, x in enumerate(X):
        state = activation(state + np.outer(W_A.T @ x, W_B.T @ x))
        np.testing.assert_allclose(states[t], state, atol=1e-14)
        np.testing.assert_allclose(Y[t], state @ x, atol=1e-14)


@pytest.mark.parametrize("front", FRONTS)
def test_linear_attention_pair_by_pair(front):
    Q, K, V, _ = sequences(front)
    Q, K = CHAPTER.elu_plus_one(Q), CHAPTER.elu_plus_one(K)
    want = np.empty_like(V)
    for at in np.ndindex(front):
        for t in range(V.shape[-2]):
            share = [K[at][j] @ Q[at][t] for j in range(t + 1)]
            want[at][t] = np.average(V[at][: t + 1], axis=0, weights=share)
    np.testing.assert_allclose(CHAPTER.linear_attention(Q, K, V), want,
                               rtol=1e-12, atol=1e-13)
    got, (state, z) = CHAPTER.linear_attention_by_state(Q, K, V)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(state, np.swapaxes(V, -1, -2) @ K)
    np.testing.assert_allclose(z, K.sum(axis=-2))
    single = (a.astype(np.float32) for a in (Q, K, V))
    single = CHAPTER.linear_attention_by_state(*single)[0]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, want, atol=1e-5 * abs(want).max())


@pytest.mark.parametrize("name", ["linear_attention",
                                  "linear_attention_by_state"])
def test_a_query_without_a_match_is_refused(name):
    Q, K, V = np.eye(3), np.roll(np.eye(3), 1, axis=1), np.ones((3, 2))
    with pytest.raises(ValueError, match="matches no key"):
        getattr(CHAPTER, name)(Q, K, V)


@pytest.mark.parametrize("nu", [1, 2, 4])
def test_dpfp_index_by_index(nu):
    X = np.random.default_rng(4).normal(size=(2, 30, 5))
    r = np.maximum(np.concatenate([X, -X], axis=-1), 0)
    want = np.stack([r[..., i] * r[..., (i + s) % 10]
                     for s in range(1, nu + 1) for i in range(10)], axis=-1)
    np.testing.assert_array_equal(CHAPTER.dpfp(X, nu), want)
    np.testing.assert_array_equal(
        CHAPTER.torch_dpfp(torch.tensor(X), nu).numpy(), want)


@pytest.mark.parametrize("nu", [0, 5, 9])
def test_dpfp_refuses_shifts_that_add_nothing(nu):
    with pytest.raises(ValueError, match="shifts 1 to 4 only"):
        CHAPTER.dpfp(np.ones((3, 5)), nu)


def test_normalizations():
    X = np.random.default_rng(5).normal(size=(2, 9, 6))
    units = CHAPTER.unit_length(X)
    np.testing.assert_allclose(units, F.normalize(torch.tensor(X), dim=-1),
                               atol=1e-9)
    shares = CHAPTER.sum_normalize(abs(X))
    np.testing.assert_allclose(shares.sum(axis=-1), 1, atol=1e-5)
    for normalize in (CHAPTER.unit_length, CHAPTER.sum_normalize):
        assert not normalize(np.zeros((2, 6))).any()


@pytest.mark.parametrize("front", FRONTS)
def test_rules_without_recurrence(front):
    Q, K, V, beta = sequences(front, seed=6)
    summed, state = CHAPTER.sum_rule(Q, K, V)
    scores = np.tril(Q @ np.swapaxes(K, -1, -2))
    np.testing.assert_allclose(summed, scores @ V, atol=1e-13)
    np.testing.assert_allclose(state, np.swapaxes(V, -1, -2) @ K, atol=1e-13)

    alpha = np.random.default_rng(7).uniform(0.5, 1, size=beta.shape)
    for fade, run in ((np.ones_like(alpha), CHAPTER.delta_rule(Q, K, V, beta)),
                      (alpha, CHAPTER.gated_delta_rule(Q, K, V, beta, alpha))):
        for at in np.ndindex(front):
            want = np.zeros(state.shape[-2:])
            for i in range(V.shape[-2]):
                term = beta[at][i] * np.outer(V[at][i], K[at][i])
                for s in range(i + 1, V.shape[-2]):
                    k = K[at][s]
                    term = fade[at][s] * (
                        term - beta[at][s] * np.outer(term @ k, k))
                want += term
            np.testing.assert_allclose(run[1][at], want, atol=1e-13)
            np.testing.assert_allclose(run[0][at][-1], want @ Q[at][-1],
                                       atol=1e-13)


@pytest.mark.parametrize("name", ["sum_rule", "delta_rule",
                                  "gated_delta_rule"])
def test_a_text_may_be_read_in_pieces(name):
    arrays = sequences((2,), seed=8)
    arrays = {"sum_rule": arrays[:3], "delta_rule": arrays,
              "gated_delta_rule": (*arrays, arrays[3][::-1])}[name]
    rule = getattr(CHAPTER, name)
    whole, last = rule(*arrays)
    head, state = rule(*(a[:, :4] for a in arrays))
    tail, state = rule(*(a[:, 4:] for a in arrays), state)
    np.testing.assert_array_equal(np.concatenate([head, tail], axis=1), whole)
    np.testing.assert_array_equal(state, last)
    single = rule(*(a.astype(np.float32) for a in arrays))[0]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, whole, atol=2e-6 * abs(whole).max())


def test_no_rule_hears_the_future():
    Q, K, V, beta = sequences((), seed=9)
    loud = V.copy()
    loud[7] += 100
    for rule, more in ((CHAPTER.sum_rule, ()), (CHAPTER.delta_rule, (beta,))):
        moved = rule(Q, K, loud, *more)[0] - rule(Q, K, V, *more)[0]
        assert (moved[:7] == 0).all() and abs(moved[7]).max() > 0


@pytest.mark.parametrize("phi", [lambda X: F.elu(X) + 1,
                                 lambda X: CHAPTER.torch_dpfp(X, 2)])
def test_a_trained_sum_is_linear_attention(phi):
    generator = torch.Generator().manual_seed(1)
    tables = [t.double() for t in CHAPTER.random_tables(6, generator)]
    keys, values, _, _ = CHAPTER.stories(3, 6, generator)
    got = CHAPTER.sum_answers(tables, keys, values, phi)
    E_Q, E_K, E_V = tables
    for b in range(3):
        K = phi(E_K[keys[b]] + E_V[values[b]]).numpy()
        for q, answer in zip(phi(E_Q).numpy(), got[b], strict=True):
            want = np.average(np.eye(6)[values[b]], axis=0, weights=K @ q)
            np.testing.assert_allclose(answer, want, atol=1e-5)


def test_answers_of_the_overwriting_task():
    generator = torch.Generator().manual_seed(0)
    tables = [t.double() for t in CHAPTER.random_tables(6, generator)]
    strengths = list(torch.randn(2, 6, generator=generator).double())
    keys, values, written, last = CHAPTER.stories(3, 6, generator)
    got = CHAPTER.delta_answers(tables + strengths, keys, values,
                                lambda X: CHAPTER.torch_dpfp(X, 1))
    E_Q, E_K, E_V, b_K, b_V = (t.numpy() for t in tables + strengths)

    def shares(X):
        return CHAPTER.sum_normalize(CHAPTER.dpfp(X, 1))

    for b in range(3):
        who, what = keys[b].numpy(), values[b].numpy()
        K, V = shares(E_K[who] + E_V[what]), np.eye(6)[what]
        beta = CHAPTER.sigmoid(b_K[who] + b_V[what])
        _, state = CHAPTER.delta_rule(K, K, V, beta)
        np.testing.assert_allclose(got[b], shares(E_Q) @ state.T, atol=1e-12)
        for key in range(6):
            at = np.flatnonzero(who == key)
            assert last[b, key] == (what[at[-1]] if len(at) else -1)
            assert (written[b, key].numpy()
                    == np.bincount(what[at], minlength=6)).all()


@pytest.mark.parametrize("rule", ["sum_rule", "delta_rule",
                                  "gated_delta_rule",
                                  "linear_attention_by_state"])
def test_values_that_are_integers_are_not_cut(rule):
    rng = np.random.default_rng(0)
    Q, K = rng.uniform(0.1, 1, size=(2, 6, 4))
    V, rest = rng.integers(-9, 9, size=(6, 3)), rng.uniform(size=(2, 6))
    rest = rest[:{"delta_rule": 1, "gated_delta_rule": 2}.get(rule, 0)]
    got, want = (getattr(CHAPTER, rule)(Q, K, values, *rest)[0]
                 for values in (V, V.astype(float)))
    assert got.dtype == want.dtype and np.array_equal(got, want)
    assert not np.array_equal(want, np.round(want))
    small = getattr(CHAPTER, rule)(*(a.astype(np.float32) for a in
                                     (Q, K, V, *rest)))[0]
    assert small.dtype == np.float32
