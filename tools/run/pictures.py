"""How far apart two pictures are, as a reader would see them."""

import base64
import io
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from matplotlib.testing.compare import calculate_rms
from nbformat import NotebookNode
from PIL import Image

from course.paths import BUILD

SIDE = 48      # pixels: a lost point is much of a square, little of a page
TOLERANCE = 8  # of 255: the root mean square in a square; a line that moves
               # by a quarter of a pixel is here, a new digit on an axis at 14
FOLDER = BUILD / "pictures"
Picture = np.ndarray                    # height, width, 3: red, green, blue


def pictures(outputs: Iterable[NotebookNode]) -> Iterator[Picture]:
    """The PNG outputs of a cell."""
    for output in outputs:
        if png := output.get("data", {}).get("image/png"):
            image = Image.open(io.BytesIO(base64.b64decode(png)))
            yield np.asarray(image.convert("RGB"), dtype=float)


def squares(picture: Picture) -> Iterator[Picture]:
    """The picture, cut into pieces of about SIDE by SIDE pixels."""
    height, width, _ = picture.shape
    for strip in np.array_split(picture, height // SIDE or 1):
        yield from np.array_split(strip, width // SIDE or 1, axis=1)


def distance(stored: Picture, new: Picture) -> float:
    """How far apart in their worst square, in tolerances: above 1, seen."""
    if stored.shape != new.shape:
        return np.inf
    pairs = zip(squares(stored), squares(new), strict=True)
    return float(max(calculate_rms(*pair) for pair in pairs)) / TOLERANCE


def save(name: str, stored: Picture, new: Picture) -> str:
    """Write both pictures and their difference, tenfold; where, in words."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    shown = {"stored": stored, "new": new}
    if stored.shape == new.shape:
        shown["difference"] = np.minimum(10 * np.abs(stored - new), 255)
    for kind, pixels in shown.items():
        image = Image.fromarray(pixels.astype(np.uint8))
        image.save(FOLDER / f"{name}.{kind}.png")
    return f"_build/pictures/{name}.{{{','.join(shown)}}}.png"


def unlike(name: str, stored: Sequence[Picture], new: Sequence[Picture],
           limit: float = 1) -> list[str]:
    """A sentence for each pair of pictures that a reader can tell apart.

    limit: how many tolerances they may be apart.
    """
    if len(stored) != len(new):
        return [f"{name}: {len(new)} pictures, not {len(stored)}"]
    return [f"{name}: rms {far * TOLERANCE:.1f},"
            f" tolerance {limit * TOLERANCE:g}: see "
            + save(name, old, other)
            for old, other in zip(stored, new, strict=True)
            if (far := distance(old, other)) > limit]
