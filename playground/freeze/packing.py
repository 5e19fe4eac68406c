"""Packs answers into one file with their common parts stored once: a figure's colours, a head's weights, the source of a function."""

from __future__ import annotations

import gzip
from typing import Any

import orjson

LEAST = 96  # bytes of JSON from which a reference pays
OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


class Pack:
    """{"shared": [values], "answers": {key: answer}}; in both {"$": n} stands for the n-th shared value."""

    def __init__(self) -> None:
        self._shared: list[Any] = []
        self._known: dict[bytes, int] = {}
        self._answers: dict[str, Any] = {}

    @property
    def size(self) -> int:
        """The number of answers."""
        return len(self._answers)

    def add(self, key: str, answer: Any) -> None:
        self._answers[key] = self._reference(orjson.loads(orjson.dumps(answer, option=OPTIONS)))

    def content(self) -> bytes:
        """Returns the file: gzipped JSON, deterministic."""
        return gzip.compress(orjson.dumps({"shared": self._shared, "answers": self._answers}), mtime=0)

    def _reference(self, value: Any) -> Any:
        """Replaces the larger parts of a value by references; known parts aren't searched again."""
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


def unpack_answer(content: bytes, key: str) -> Any:
    """Returns the answer under `key` of a file, with its references resolved."""
    pack = orjson.loads(gzip.decompress(content))

    def resolve(value: Any) -> Any:
        if isinstance(value, list):
            return [resolve(item) for item in value]
        if not isinstance(value, dict):
            return value
        return resolve(pack["shared"][value["$"]]) if "$" in value else {name: resolve(item) for name, item in value.items()}

    return resolve(pack["answers"][key])
