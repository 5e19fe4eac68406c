"""What a stop of the tour says beyond its text where this model was made otherwise than the paper's, and its formula, read as it stands,
would be taken for another one. What has a text of its own at a stop (see `Reading.variant`) needs no note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from playground.config import ModelConfig
from playground.model.attention import head_widths

Applies = Callable[[ModelConfig], bool]


def notes(config: ModelConfig, stop: str) -> tuple[str, ...]:
    """The names of what is to be said at this stop, for words/."""
    return tuple(name for name, applies in NOTES.get(stop, {}).items() if applies(config))


def _normed(config: ModelConfig) -> bool:
    return config.norm == "pre"


def _rotated(config: ModelConfig) -> bool:
    return config.encoding.rotary


def _own_key_size(config: ModelConfig) -> bool:
    d_k, d_v = head_widths(config)
    return d_k != d_v


NOTES: Mapping[str, Mapping[str, Applies]] = {
    "embedding": {
        "unscaled": lambda config: not config.embedding_scale,
        "shared": lambda config: config.share_embeddings == "all",
    },
    "projections": {"normed": _normed, "key_size": _own_key_size},
    "scores": {"rotated": _rotated},
    "mixed": {"rotated": _rotated},
    "sublayer": {"dropout": lambda config: config.dropout > 0},
    "feed_forward": {"normed": _normed, "last_norm": _normed},
    "cross": {"normed": _normed},
    "token": {"last_norm": _normed, "tied": lambda config: config.share_embeddings != "none"},
}
