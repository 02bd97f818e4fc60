"""Write the weights of the page "Look inside" as scripts, one for each model.

Numbers of 16 bits, as the experiments keep them, low byte first, in base64: a
page that is read from disk may load a script, and nothing else. `make refresh`
writes them.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from course.chapter import functions
from course.paths import BOOK, ROOT

FOLDER = BOOK / "_static" / "inside"
LAYERS, HEADS, COLUMNS = 2, 4, 76
MODELS = {                              # kind, weights, what trained them
    "kite": ("attention", "kite_model.npz", "kite_model.py"),
    "sum": ("sum", "kite_sum.npz", "kite_memories.py"),
    "delta": ("delta", "kite_delta.npz", "kite_memories.py")}


def script(name: str) -> str:
    """The script that registers a model."""
    kind, weights, experiment = MODELS[name]
    path = ROOT / "experiments" / weights
    with np.load(path) as arrays:
        kept = {each: arrays[each] for each in arrays.files}
    if any(each.dtype != np.float16 or not np.isfinite(each).all()
           for each in kept.values()):
        raise ValueError(f"{weights}: not all are finite numbers of 16 bits")
    told = {"name": name, "kind": kind, "layers": LAYERS, "heads": HEADS,
            "experiment": f"experiments/{experiment}",
            "hash": hashlib.sha256(path.read_bytes()).hexdigest(),
            "words": functions("07").KiteWorld.words,
            "shapes": {each: array.shape for each, array in kept.items()}}
    packed = base64.b64encode(b"".join(
        array.astype("<f2").tobytes() for array in kept.values())).decode()
    lines = [packed[at:at + COLUMNS] for at in range(0, len(packed), COLUMNS)]
    return "\n".join([
        f"// Written by `make refresh` from experiments/{weights}; `hash` is",
        f'// the SHA-256 of that file.\nInside.register("{name}", {{',
        *(f"  {key}: {json.dumps(value)}," for key, value in told.items()),
        "  packed: `", *lines, "`", "})", ""])


def write() -> Iterator[Path]:
    """Write them; yields the files that changed."""
    for name in MODELS:
        path, text = FOLDER / f"{name}.js", script(name)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8", newline="\n")
            yield path
