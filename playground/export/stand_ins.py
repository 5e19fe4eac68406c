"""What model.py has in place of a part of ours that needs the rest of the house."""

from __future__ import annotations


class Refusal(ValueError):
    """Something that was asked for can't be done: `key` says what, `values` which."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)
