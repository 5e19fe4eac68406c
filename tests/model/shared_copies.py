"""torch.nn's own Transformer with the parameters of one of ours, as the lab has it."""

from playground.lessons.labs.nn_transformer.conversion import as_nn_transformer, attention_pairs, disturb

__all__ = ["as_nn_transformer", "attention_pairs", "disturb"]
