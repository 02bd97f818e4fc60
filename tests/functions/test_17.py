"""Chapter 17's functions against loops over pairs, PyTorch and closed forms."""

from runpy import run_path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from course.chapter import functions
from experiments import memories
from experiments.experiment import HERE

CHAPTER = functions("17")
FRONTS = [(), (3,), (2, 3)]


def sequences(front, seed=0, n=11, d_k=5, d_v=4):
    """Signed Q, K, V and beta, rows of very different size."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-1, 0, size=(*front, n, 1))
    Q, K = rng.normal(size=(2, *front, n, d_k)) * size
    V = rng.normal(size=(*front, n, d_v))
    return Q, K, V, rng.uniform(size=(*front, n))


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_write_delta_is_a_step_of_sgd(beta):
    rng = np.random.default_rng(2)
    state, k, v = (rng.normal(size=shape) for shape in ((4, 5), 5, 4))
    before = state.copy()
    leaf = torch.tensor(state, requires_grad=True)
    sgd = torch.optim.SGD([leaf], lr=beta)
    ((torch.tensor(v) - leaf @ torch.tensor(k)) ** 2).sum().div(2).backward()
    sgd.step()
    np.testing.assert_allclose(
        CHAPTER.write_delta(state, k, v, np.array(beta)), leaf.detach(),
        atol=1e-14)
    np.testing.assert_array_equal(state, before)    # nothing in place


def test_unit_length():
    X = np.random.default_rng(5).normal(size=(2, 9, 6))
    np.testing.assert_allclose(CHAPTER.unit_length(X), F.normalize(
        torch.tensor(X), dim=-1), atol=1e-9)
    assert not CHAPTER.unit_length(np.zeros((2, 6))).any()


@pytest.mark.parametrize("front", FRONTS)
def test_rules_without_recurrence(front):
    Q, K, V, beta = sequences(front, seed=6)
    alpha = np.random.default_rng(7).uniform(0.5, 1, size=beta.shape)
    for fade, run in ((np.ones_like(alpha), CHAPTER.delta_rule(Q, K, V, beta)),
                      (alpha, CHAPTER.gated_delta_rule(Q, K, V, beta, alpha))):
        for at in np.ndindex(front):
            want = np.zeros(run[1].shape[-2:])
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


@pytest.mark.parametrize("name", ["delta_rule", "gated_delta_rule"])
def test_a_text_may_be_read_in_pieces(name):
    arrays = sequences((2,), seed=8)
    arrays = {"delta_rule": arrays,
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


def test_no_output_depends_on_the_future():
    Q, K, V, beta = sequences((), seed=9)
    other = V.copy()
    other[7] += 100
    moved = (CHAPTER.delta_rule(Q, K, other, beta)[0]
             - CHAPTER.delta_rule(Q, K, V, beta)[0])
    assert (moved[:7] == 0).all() and abs(moved[7]).max() > 0


@pytest.mark.parametrize("rule", ["delta_rule", "gated_delta_rule"])
def test_values_that_are_integers_are_not_cut(rule):
    rng = np.random.default_rng(0)
    Q, K = rng.uniform(0.1, 1, size=(2, 6, 4))
    V, rest = rng.integers(-9, 9, size=(6, 3)), rng.uniform(size=(2, 6))
    rest = rest[:{"delta_rule": 1, "gated_delta_rule": 2}[rule]]
    got, want = (getattr(CHAPTER, rule)(Q, K, values, *rest)[0]
                 for values in (V, V.astype(float)))
    assert got.dtype == want.dtype and np.array_equal(got, want)
    assert not np.array_equal(want, np.round(want))


@pytest.mark.parametrize("nu", [1, 2, 4])
def test_torch_dpfp_index_by_index(nu):
    X = np.random.default_rng(4).normal(size=(2, 30, 5))
    r = np.maximum(np.concatenate([X, -X], axis=-1), 0)
    want = np.stack([r[..., i] * r[..., (i + s) % 10]
                     for s in range(1, nu + 1) for i in range(10)], axis=-1)
    got = CHAPTER.torch_dpfp(torch.tensor(X), nu).numpy()
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(
        memories.feature_map(nu)(torch.tensor(X)).numpy(), want)


def test_the_module_by_loops():
    torch.manual_seed(0)
    layer = CHAPTER.DeltaRule(6, 2).double()
    X = torch.randn(2, 5, 6, dtype=torch.float64)
    Y, last = layer(X)
    Q, K, V = layer.qkv(X).detach().split(6, dim=-1)
    beta = layer.beta(X).detach().sigmoid()
    for b in range(2):
        heads = []
        for h in range(2):
            at = slice(3 * h, 3 * h + 3)
            state, out = torch.zeros(3, 3, dtype=torch.float64), []
            for t in range(5):
                q, k = (F.silu(A[b, t, at]) for A in (Q, K))
                q, k = q / q.norm(), k / k.norm()
                state = state + beta[b, t, h] * torch.outer(
                    V[b, t, at] - state @ k, k)
                out.append(state @ q)
            torch.testing.assert_close(last[b, h].detach(), state)
            heads.append(torch.stack(out))
        torch.testing.assert_close(
            Y[b].detach(), torch.cat(heads, -1) @ layer.out.weight.detach().T)


@pytest.mark.parametrize("nu", [0, 2])
def test_a_trained_sum_is_linear_attention(nu):
    generator = torch.Generator().manual_seed(1)
    phi = memories.feature_map(nu)
    tables = [row.double() for row in
              torch.randn(3, 6, 16, generator=generator)]
    keys, values, _ = memories.stories(3, 6, generator)
    got = memories.sum_answers(tables, keys, values, phi)
    soft = memories.softmax_answers([row.float() for row in tables], keys,
                                   values, None)
    E_Q, E_K, E_V = tables
    for b in range(3):
        K = (E_K[keys[b]] + E_V[values[b]]).numpy()
        for q, answer, other in zip(E_Q, got[b], soft[b], strict=True):
            want = np.average(np.eye(6)[values[b]], axis=0, weights=phi(
                torch.tensor(K)).numpy() @ phi(q).numpy())
            np.testing.assert_allclose(answer, want, atol=1e-5)
            want = np.average(np.eye(6)[values[b]], axis=0,
                              weights=np.exp(K @ q.numpy() / 4))
            np.testing.assert_allclose(other, want, atol=1e-5)


def test_answers_of_the_overwriting_task():
    generator = torch.Generator().manual_seed(0)
    tables = [row.double() for row in
              torch.randn(3, 6, 16, generator=generator)]
    tables += list(torch.randn(2, 6, generator=generator).double())
    keys, values, last = memories.stories(3, 6, generator)
    assert keys.shape == values.shape == (3, 12)
    got = memories.delta_answers(tables, keys, values, memories.feature_map(1))
    E_Q, E_K, E_V, b_K, b_V = (table.numpy() for table in tables)

    def features(X):
        return CHAPTER.sum_normalize(CHAPTER.dpfp(X, 1))

    for b in range(3):
        who, what = keys[b].numpy(), values[b].numpy()
        K, V = features(E_K[who] + E_V[what]), np.eye(6)[what]
        beta = 1 / (1 + np.exp(-(b_K[who] + b_V[what])))
        _, state = CHAPTER.delta_rule(K, K, V, beta)
        np.testing.assert_allclose(got[b], features(E_Q) @ state.T,
                                   atol=1e-12)
        for key in range(6):
            at = np.flatnonzero(who == key)
            assert last[b, key] == (what[at[-1]] if len(at) else -1)


def test_pairings_are_permutations():
    keys, values, last = memories.pairs_once(
        4, 7, torch.Generator().manual_seed(2))
    assert (keys == torch.arange(7)).all() and torch.equal(values, last)
    assert (values.sort(dim=-1).values == torch.arange(7)).all()


def test_losses_by_hand():
    last = torch.tensor([[1, -1, 0]])
    answers = torch.tensor([[[0.0, 1, 0], [9, 9, 9], [0.5, 0.5, 0]]])
    assert memories.newest_loss(answers, last) == 0.125
    bound = memories.averaging_bound(
        torch.tensor([[0, 0, 0, 1]]), torch.tensor([[0, 1, 1, 2]]),
        torch.tensor([[1, 2, -1]]))
    assert bound == pytest.approx(0.5 * (1 - 1 / 9 - 4 / 9) / 2)


def test_training_lowers_the_loss():
    phi = memories.feature_map(1)
    tables = [memories.train_memory(memories.sum_answers, phi,
                                   memories.pairs_once, 6, 0, steps)
              for steps in (0, 60)]
    *story, last = memories.pairs_once(9, 6, torch.Generator().manual_seed(3))
    before, after = (memories.newest_loss(memories.sum_answers(
        rows, *story, phi), last) for rows in tables)
    assert after < before / 3


@pytest.mark.parametrize(("gated", "reads_first"), [
    (False, False), (True, False), (False, True), (True, True)])
def test_four_rules_by_loops(gated, reads_first):
    """One triangular system is the chapter's rules, token by token."""
    last_answers = run_path(str(HERE / "17_four_rules.py"))["last_answers"]
    rng = np.random.default_rng(11)
    n, m, d = 9, 4, 5
    K, V, Q = (rng.normal(size=(size, d)) for size in (n, n, m))
    beta, alpha = rng.uniform(0.1, 1, size=(2, n))
    if not gated:
        alpha = np.ones(n)
    want = np.zeros((d, d))
    for t in range(n):
        want = alpha[t] * want
        old = want @ K[t] if reads_first else 0
        want = want + beta[t] * np.outer(V[t] - old, K[t])
    if reads_first:
        np.testing.assert_allclose(want, CHAPTER.gated_delta_rule(
            K, K, V, beta, alpha)[1])
    K, V, beta, alpha, Q = map(torch.tensor, (K, V, beta, alpha, Q))
    got = last_answers(Q, K[None], V[None], beta[None], alpha.log()[None],
                       reads_first)
    np.testing.assert_allclose(got[0], Q @ want.T)


def test_stories_of_four_rules_by_hand():
    stories = run_path(str(HERE / "17_four_rules.py"))["stories"]
    names, rooms, answer, age = stories(
        20, 5, torch.Generator().manual_seed(0))
    assert 0 < (names == 5).any(dim=1).sum() < 20
    for b in range(20):
        where, told = {}, {}
        for t, (who, what) in enumerate(zip(names[b].tolist(),
                                            rooms[b].tolist(), strict=True)):
            if who == 5:
                where, told = dict.fromkeys(where, 8), dict.fromkeys(told, t)
            else:
                where[who], told[who] = what, t
        for person in range(5):
            assert answer[b, person] == where.get(person, -1)
            if person in told:
                assert age[b, person] == 47 - told[person]
