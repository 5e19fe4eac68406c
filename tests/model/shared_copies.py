"""torch.nn's own Transformer with the parameters of one of ours, as the lab has it."""

from playground.lessons.nn_transformer import attention_pairs, disturb, twin

__all__ = ["attention_pairs", "disturb", "twin"]
