"""Notes of the tour's stops where the model differs from the paper and its formula would otherwise be misread. Stops with a message of
their own (see `Reading.variant`) need no note."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from playground.config import ModelConfig
from playground.model.attention import head_widths

Applies = Callable[[ModelConfig], bool]


def list_notes(config: ModelConfig, stop: str) -> tuple[str, ...]:
    """Returns the keys of the notes at this stop."""
    return tuple(name for name, applies in NOTES.get(stop, {}).items() if applies(config))


def _is_pre_norm(config: ModelConfig) -> bool:
    return config.norm == "pre"


def _is_rotary(config: ModelConfig) -> bool:
    return config.encoding.rotary


def _has_own_key_size(config: ModelConfig) -> bool:
    d_k, d_v = head_widths(config)
    return d_k != d_v


NOTES: Mapping[str, Mapping[str, Applies]] = {
    "embedding": {
        "unscaled": lambda config: not config.embedding_scale,
        "shared": lambda config: config.share_embeddings == "all",
    },
    "projections": {"normed": _is_pre_norm, "key_size": _has_own_key_size},
    "scores": {"rotated": _is_rotary},
    "mixed": {"rotated": _is_rotary},
    "sublayer": {"dropout": lambda config: config.dropout > 0},
    "feed_forward": {"normed": _is_pre_norm, "last_norm": _is_pre_norm},
    "cross": {"normed": _is_pre_norm},
    "token": {"last_norm": _is_pre_norm, "tied": lambda config: config.share_embeddings != "none"},
}
