"""Answers in one file that share what they have in common: a picture's colours, a head's weights, the source of a function."""

from __future__ import annotations

import gzip
from typing import Any

import orjson

LEAST = 96  # bytes of JSON that are worth a reference
OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


class Pack:
    """{"shared": [values], "answers": {key: answer}}; in both {"$": n} stands for the n-th shared value."""

    def __init__(self) -> None:
        self._shared: list[Any] = []
        self._known: dict[bytes, int] = {}
        self._answers: dict[str, Any] = {}

    @property
    def size(self) -> int:
        """How many answers there are."""
        return len(self._answers)

    def add(self, key: str, answer: Any) -> None:
        self._answers[key] = self._reference(orjson.loads(orjson.dumps(answer, option=OPTIONS)))

    def content(self) -> bytes:
        """The file: JSON, gzipped, the same bytes for the same answers."""
        return gzip.compress(orjson.dumps({"shared": self._shared, "answers": self._answers}), mtime=0)

    def _reference(self, value: Any) -> Any:
        """A value with its larger parts replaced by references; what is known already isn't looked into again."""
        if not isinstance(value, dict | list):
            return value
        text = orjson.dumps(value)
        if len(text) < LEAST:
            return value
        if text not in self._known:
            if isinstance(value, dict):
                value = {name: self._reference(part) for name, part in value.items()}
            elif b"{" in text:  # a list of numbers, however deep, is shared whole: a reference to each row would be longer than the rows
                value = [self._reference(part) for part in value]
            self._shared.append(value)
            self._known[text] = len(self._shared) - 1
        return {"$": self._known[text]}


def whole(content: bytes, key: str) -> Any:
    """The answer under `key` of a file, put together again."""
    pack = orjson.loads(gzip.decompress(content))

    def found(value: Any) -> Any:
        if isinstance(value, list):
            return [found(item) for item in value]
        if not isinstance(value, dict):
            return value
        return found(pack["shared"][value["$"]]) if "$" in value else {name: found(item) for name, item in value.items()}

    return found(pack["answers"][key])
