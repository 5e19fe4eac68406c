"""The learning rate over the steps (section 5.3, and what is done today)."""

from __future__ import annotations

from playground.config import TrainingConfig


def learning_rate(config: TrainingConfig, d_model: int, step: int) -> float:
    """The learning rate of update number `step`, counted from 1.

    paper: learning_rate * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5), equation 3 with a factor in front.
    linear: up in a straight line to learning_rate during warmup, then in a straight line down to 0 just after the last step.
    constant: up during warmup, then learning_rate.
    """
    warmup = max(config.warmup, 1)
    rise = min(step / warmup, 1.0)
    if config.schedule == "paper":
        return config.learning_rate * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    if config.schedule == "linear":
        left = (config.steps + 1 - step) / max(config.steps + 1 - config.warmup, 1)
        return config.learning_rate * max(min(rise, left), 0.0)
    return config.learning_rate * rise
