"""What the function tests of several chapters draw."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

rarely = settings(deadline=None, max_examples=50)
seeds, widths = st.integers(0, 10**6), st.integers(2, 9)
leads = st.sampled_from([(), (1,), (4,), (2, 3), (2, 1, 3)])


def tokens_gain_bias(seed, lead, d_model):
    """Signed tokens of very different sizes, none centered; gain and bias."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(*lead, d_model)) + rng.normal()
    X *= 10 ** rng.uniform(-3, 3, size=(*lead, 1))
    return X, *rng.normal(size=(2, d_model))
