"""How much gradient reaches a query when scores are divided, or not?

128 random keys and 400 random queries a seed, entries of variance 1; a random
gradient at the attention weights goes back to the queries by equation (8.4).
Per row five seeds, 0 to 4: the median and the mean of the gradient's norm over
all 2,000 queries, and the fraction of their sum that goes to the tenth of the
queries with the largest norms. Both statistics belong together: without a
divisor most queries get nearly nothing, and a few get nearly everything.
"""

import numpy as np

from course.chapter import functions
from experiments.experiment import Experiment

CHAPTER = functions("08")
DIVISORS = {"unscaled": lambda d_k: 1, "over sqrt(d_k)": lambda d_k: d_k**0.5,
            "over d_k": lambda d_k: d_k}


def gradients(d_k: int, divisor: float, seed: int, m: int = 128,
              n_queries: int = 400) -> np.ndarray:
    """The norm of the gradient at each query, (n_queries,)."""
    rng = np.random.default_rng(seed)
    K, Q = rng.normal(size=(m, d_k)), rng.normal(size=(n_queries, d_k))
    dA = rng.normal(size=(n_queries, m))
    A = CHAPTER.softmax(Q @ K.T / divisor)
    dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
    return np.linalg.norm(dS @ K / divisor, axis=-1)


def row(d_k: int, divisor: float) -> list[float]:
    """Median, mean, and what goes to the top tenth."""
    norms = np.sort(np.concatenate([gradients(d_k, divisor, seed)
                                    for seed in range(5)]))
    top = norms[-len(norms) // 10:].sum() / norms.sum()
    return [np.median(norms), norms.mean(), top]


EXPERIMENT = Experiment(
    question="How much gradient reaches a query?",
    columns=["scores", "median gradient", "mean gradient",
             "to the top 10 % of the queries"],
    rows={f"{name}, d_k = {d_k}": (d_k, divisor(d_k))
          for name, divisor in DIVISORS.items() for d_k in (64, 1024, 4096)},
    row=row, formats=["{:.2g}", "{:.2g}", "{:.0%}"],
    quick="unscaled, d_k = 1024", tolerance=0.05)
