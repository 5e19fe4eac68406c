"""Parts: assigns an archive's files to training, validation and test by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CALLED = {
    "train": ("train", "training"), "validation": ("dev", "val", "valid", "validation"), "test": ("test",),
}  # fmt: skip
_PARTS = {word: part for part, words in _CALLED.items() for word in words}
_BETWEEN = re.compile(r"[\W_]+")


def group_parts(names: Sequence[str]) -> dict[str, list[int]]:
    """Returns the indices of the one or two files of each part, both sides in the same order, "train" first; {} unless every file's name or
    folder names exactly one part and all parts have equally many files."""
    parts: dict[str, list[tuple[list[str], int]]] = {part: [] for part in _CALLED}
    paths = [[[*filter(None, _BETWEEN.split(text))] for text in name.replace("\\", "/").casefold().split("/")] for name in names]
    common = set.intersection(*(_named(file) for *_, file in paths)) if paths else set()  # "my-test.train.en" beside "my-test.dev.en"
    for place, (*folders, file) in enumerate(paths):
        named_parts = [
            _named(file) - common,
            _named(file),
            *map(_named, reversed(folders)),
        ]  # a folder of parts may be named like one of them
        named = next(filter(None, named_parts), set())
        if len(named) != 1:
            return {}
        parts[named.pop()].append(([word for words in (*folders, file) for word in words if word not in _PARTS][::-1], place))
    parts = {part: files for part, files in parts.items() if files}
    if len(parts) < 2 or "train" not in parts or {*map(len, parts.values())} not in ({1}, {2}):
        return {}
    turned = parts["train"][0] > parts["train"][-1]
    return {part: [place for _, place in sorted(files, reverse=turned)] for part, files in parts.items()}


def _named(words: Sequence[str]) -> set[str]:
    return {_PARTS[word] for word in words if word in _PARTS}
