"""A random Transformer as arrays, and PyTorch's blocks with its weights."""

import numpy as np
import torch
from torch import nn


def draw(seed, h=2, n_layers=2, n_vocab=11, n_max=9, d_k=3, d_ff=10):
    """Random weights, gains and biases too; the head is not tied."""
    rng = np.random.default_rng(seed)
    d = h * d_k

    def layer():
        small = d**-0.5
        return {"norm_1": (*rng.normal(size=(2, d)),),
                "norm_2": (*rng.normal(size=(2, d)),),
                "attention": (*rng.normal(size=(4, d, d)) * small, h),
                "ffn": (rng.normal(size=(d, d_ff)) * small,
                        rng.normal(size=d_ff),
                        rng.normal(size=(d_ff, d)) * small,
                        rng.normal(size=d))}

    return {"E": rng.normal(size=(n_vocab, d)) * 2,
            "P": rng.normal(size=(n_max, d)),
            "layers": [layer() for _ in range(n_layers)],
            "norm": (*rng.normal(size=(2, d)),),
            "W_U": rng.normal(size=(d, n_vocab))}


def theirs(layer, norm_first):
    """A layer's weights poured into PyTorch's block."""
    *reads, W_O, h = layer["attention"]
    W_1, b_1, W_2, b_2 = map(torch.tensor, layer["ffn"])
    d = len(W_O)
    block = nn.TransformerEncoderLayer(
        d, h, W_1.shape[1], dropout=0, batch_first=True, dtype=torch.float64,
        norm_first=norm_first)
    packed = torch.cat([torch.tensor(W.T) for W in reads])
    block.load_state_dict({
        "self_attn.in_proj_weight": packed,
        "self_attn.in_proj_bias": torch.zeros(3 * d),
        "self_attn.out_proj.weight": torch.tensor(W_O.T),
        "self_attn.out_proj.bias": torch.zeros(d),
        "linear1.weight": W_1.T, "linear1.bias": b_1,
        "linear2.weight": W_2.T, "linear2.bias": b_2,
        "norm1.weight": torch.tensor(layer["norm_1"][0]),
        "norm1.bias": torch.tensor(layer["norm_1"][1]),
        "norm2.weight": torch.tensor(layer["norm_2"][0]),
        "norm2.bias": torch.tensor(layer["norm_2"][1])})
    return block


def oracle(X, layer, norm_first, mask):
    """PyTorch's block, one sequence or many, NumPy in and out."""
    tokens = torch.tensor(X).reshape(-1, *X.shape[-2:])
    with torch.no_grad():
        return theirs(layer, norm_first)(
            tokens, src_mask=torch.tensor(~mask)).numpy().reshape(X.shape)


def stream_by_torch(ids, params, norm_first):
    X = params["E"][ids] + params["P"][: ids.shape[-1]]
    stream, mask = [X], np.tri(ids.shape[-1], dtype=bool)
    for layer in params["layers"]:
        stream.append(oracle(stream[-1], layer, norm_first, mask))
    return stream
