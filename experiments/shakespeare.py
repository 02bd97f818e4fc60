"""Tiny Shakespeare for the experiments: characters, in two parts.

The text comes from where chapter 14 takes it.
"""

from functools import cache

import torch

from course.chapter import functions


class AnotherText(Exception):
    """Chapter 14 found one, but not the one that the tables are about."""


@cache
def parts():
    """Training ids, test ids, number of distinct characters."""
    text, title = functions("14").course_text()
    if title != "Tiny Shakespeare":
        raise AnotherText(f"the table is Tiny Shakespeare's, not {title}'s")
    letters = {letter: i for i, letter in enumerate(sorted(set(text)))}
    ids = torch.tensor([letters[letter] for letter in text])
    cut = len(ids) * 9 // 10
    return ids[:cut], ids[cut:], len(letters)
