"""Named choices that are more than a name: what the rest of the house asks about each of them. Standard library only.

The knobs in config.py take their choices from these tables, in this order. What a choice does is written where it is computed, and joined
to its declaration by name: encodings in model/positions.py, update rules in training/optimisers.py, variants in variants/.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Encoding:
    """How a model knows where a token stands (section 3.5): `added` to the embeddings are "sinusoids", "learned" vectors or nothing (""),
    and a `rotary` one turns queries and keys."""

    added: str = ""
    rotary: bool = False


ENCODINGS = {
    "sinusoidal": Encoding("sinusoids"),
    "learned": Encoding("learned"),
    "rotary": Encoding(rotary=True),
    "both": Encoding("sinusoids", rotary=True),
    "none": Encoding(),
}


@dataclass(frozen=True)
class UpdateRule:
    """How an optimiser turns a gradient into a step, and what that costs.

    For each number that it moves it keeps `moments` others, needs about `scratch` more while it works, and computes about `operations`;
    with each matrix it does `newton_schulz` iterations. A rule with a `rest` takes the hidden matrices only, those inside the layers; the
    rule of that name moves everything else, at `rest_rate` times the learning rate.
    """

    moments: int
    operations: int
    scratch: int = 0
    newton_schulz: int = 0
    rest: str = ""
    rest_rate: float = 1.0


OPTIMISERS = {
    "adam": UpdateRule(moments=2, operations=12),
    "adamw": UpdateRule(moments=2, operations=12),
    # five iterations bring the singular values nearer to 1; here three taught as much in less time
    "muon": UpdateRule(moments=1, operations=12, scratch=3, newton_schulz=3, rest="adamw", rest_rate=0.13),
}


@dataclass(frozen=True)
class Alteration:
    """What sort of change a variant is: a "bug" that people write without knowing it, or an "alternative" to a part of the paper's model.
    One that `needs_whole_batch` sums over all of it, so that the batch can't be cut into parts. A `recurrent` one has no layers of a
    Transformer, so that there is no attention to look at."""

    kind: str
    needs_whole_batch: bool = False
    recurrent: bool = False


VARIANTS = {
    "none": Alteration("paper"),
    "no_causal_mask": Alteration("bug"),
    "no_source_mask": Alteration("bug"),
    "no_memory_mask": Alteration("bug"),
    "inverted_mask": Alteration("bug"),
    "softmax_over_queries": Alteration("bug"),
    "norm_over_positions": Alteration("bug"),
    "view_for_transpose": Alteration("bug"),
    "unshifted": Alteration("bug"),
    "padding_in_loss": Alteration("bug", needs_whole_batch=True),
    "dropout_always": Alteration("bug"),
    "scale_twice": Alteration("bug"),
    "shared_attention": Alteration("bug"),
    "unchained_layers": Alteration("bug"),
    "wrong_lengths": Alteration("bug"),
    "tiny_fill": Alteration("bug"),
    "softmax_in_loss": Alteration("bug"),
    "no_mask_at_inference": Alteration("bug"),
    "concatenated": Alteration("alternative"),
    "identity_output": Alteration("alternative"),
    "no_feed_forward": Alteration("alternative"),
    "additive": Alteration("alternative"),
    "bilinear": Alteration("alternative"),
    "cosine": Alteration("alternative"),
    "location": Alteration("alternative"),
    "batch_norm": Alteration("alternative", needs_whole_batch=True),
    "no_attention_dropout": Alteration("alternative"),
    "plain_xavier": Alteration("alternative"),
    "gru": Alteration("alternative", recurrent=True),
    "gru_attention": Alteration("alternative", recurrent=True),
}
BUGS = tuple(name for name, alteration in VARIANTS.items() if alteration.kind == "bug")
