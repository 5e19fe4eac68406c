"""Named choices with the properties that other modules need to know. Standard library only.

The knobs in config.py take their choices from these tables, in this order. Each choice is implemented elsewhere under the same name:
encodings in model/positions.py, update rules in training/optimisers.py, variants in variants/.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Encoding:
    """A positional encoding (section 3.5): `added` to the embeddings are "sinusoids", "learned" vectors or nothing (""), and a `rotary` one
    rotates queries and keys."""

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
    """Costs of an optimiser's update rule.

    Per parameter it stores `moments` numbers, needs about `scratch` more while it works, and computes about `operations`; per matrix it
    does `newton_schulz` iterations. A rule with a `rest` updates only the hidden matrices, those inside the layers; the rule of that name
    updates all other parameters, at `rest_rate` times the learning rate.
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
    # five iterations bring the singular values nearer to 1; three trained as well in less time
    "muon": UpdateRule(moments=1, operations=12, scratch=3, newton_schulz=3, rest="adamw", rest_rate=0.13),
}


@dataclass(frozen=True)
class Alteration:
    """The kind of change of a variant: a "bug" that is easy to write unnoticed, an "alternative" to a part of the paper's model, or another
    "architecture". With `needs_whole_batch` it computes sums over the batch, which then can't be split. A `recurrent` one has no
    Transformer layers and no attention weights. A `decoder_only` one has a single stack for source and target; where it is `causal`, each
    token of the source sees earlier ones only."""

    kind: str
    needs_whole_batch: bool = False
    recurrent: bool = False
    decoder_only: bool = False
    causal: bool = False

    @property
    def is_built_of_layers(self) -> bool:
        """Whether it is made of the paper's own layers, whose formulas hold, in two stacks or one."""
        return self.kind in ("paper", "architecture")


PAPER = Alteration("paper")
ARCHITECTURES = {
    "encoder_decoder": PAPER,
    "prefix_decoder": Alteration("architecture", decoder_only=True),
    "causal_decoder": Alteration("architecture", decoder_only=True, causal=True),
}
BUGS = (
    "no_causal_mask", "no_source_mask", "no_memory_mask", "inverted_mask", "softmax_over_queries", "norm_over_positions",
    "view_for_transpose", "unshifted", "padding_in_loss", "dropout_always", "scale_twice", "shared_attention", "unchained_layers",
    "wrong_lengths", "tiny_fill", "softmax_in_loss", "no_mask_at_inference", "dropout_twice", "no_last_norm", "scale_by_d_model",
)  # fmt: skip
ALTERNATIVES = (
    "concatenated", "identity_output", "shared_query_key", "no_projections", "no_feed_forward", "additive", "bilinear", "cosine",
    "location", "batch_norm", "rms_norm", "swiglu", "no_attention_dropout", "plain_xavier", "gru", "gru_attention",
)  # fmt: skip
VARIANTS = {"none": PAPER, **dict.fromkeys(BUGS, Alteration("bug")), **dict.fromkeys(ALTERNATIVES, Alteration("alternative"))} | {
    "padding_in_loss": Alteration("bug", needs_whole_batch=True),
    "batch_norm": Alteration("alternative", needs_whole_batch=True),
    **dict.fromkeys(("gru", "gru_attention"), Alteration("alternative", recurrent=True)),
}
ALTERATIONS = VARIANTS | {name: architecture for name, architecture in ARCHITECTURES.items() if architecture is not PAPER}
