"""Learning rate schedules (section 5.3, and current practice)."""

from __future__ import annotations

from playground.config import TrainingConfig

REWARMED = 5  # steps before a fresh optimiser's running averages rise above the batch noise


def rewarm_factor(step: int, fresh_at: int) -> float:
    """Returns a factor for the learning rate of update `step` when a trained model continues with an optimiser that was fresh after step
    `fresh_at`: rises to 1 in REWARMED steps. Adam's first steps move every parameter by the whole learning rate, whatever its gradient:
    harmless at random, but it would destroy much of what was learnt. `fresh_at` 0 is a new model: always 1."""
    return min((step - fresh_at) / REWARMED, 1.0) if fresh_at else 1.0


def learning_rate(config: TrainingConfig, d_model: int, step: int) -> float:
    """Returns the learning rate of update number `step`, counted from 1.

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
