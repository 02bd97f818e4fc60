"""Two short texts in place of Tiny Shakespeare, which no test fetches."""

import hashlib
from pathlib import Path

FOLDER = Path(__file__).parent / "texts"
SCENE = (FOLDER / "scene.txt").read_bytes()
FORGED = (FOLDER / "forged_scene.txt").read_bytes()     # has another hash
PLAY = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"


def pass_for_the_play(chapter, data, monkeypatch):
    """Write the hash of `data` into `is_shakespeare`, and leave the rest."""
    code = chapter.is_shakespeare.__code__
    assert code.co_consts.count(PLAY) == 1
    digest = hashlib.sha256(data).hexdigest()
    monkeypatch.setattr(chapter.is_shakespeare, "__code__", code.replace(
        co_consts=tuple(digest if value == PLAY else value
                        for value in code.co_consts)))
