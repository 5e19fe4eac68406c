"""And GPT: encoder-decoder, prefix decoder and causal decoder on one task, with the same number of parameters."""

from playground.lessons.controlled import CLOSE, ControlledExperiment, Results, above, mean
from playground.model.transformer import Transformer
from playground.variants.decoder_only import DecoderOnly, join_masks, replace_stacks

WIDER = {"d_ff": 96}  # a stack without cross-attention has as many parameters when its feed-forward networks are wider by half


def first(results: Results) -> str:
    """Judges which architecture has clearly more right at the early step: one of them, "same", or "two" where only one falls behind."""
    best, second, last = sorted(results, key=lambda arm: -mean(results[arm], "early"))
    if above(results[best], results[second], "early", CLOSE):
        return best
    return "two" if above(results[second], results[last], "early", CLOSE) else "same"


LAB = ControlledExperiment(
    "architectures",
    ("encoder_decoder", "prefix", "causal", "two", "same"),
    code=(Transformer.forward, DecoderOnly.encode, DecoderOnly.decode, replace_stacks, join_masks),
    arms={
        "encoder_decoder": {},
        "prefix": {"architecture": "prefix_decoder", **WIDER},
        "causal": {"architecture": "causal_decoder", **WIDER},
    },
    base={"steps": 300, "validation_size": 200},
    judge=first,
    judged="early",
    early=120,
    expects="encoder_decoder",
    order=15,
    next=("why_attention", "depth"),
)
