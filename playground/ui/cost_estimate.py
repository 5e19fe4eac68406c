"""Summarises the settings at the left: their preset, the amount of computation, the cost of each choice, and the learning rate by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.config import PRESETS, Experiment, Refusal, preset
from playground.features.shared import uploading
from playground.features.shared.figures.plain import drawing
from playground.features.shared.naming import label, shown_value
from playground.runs.forecast import WITHIN, Forecast, duration_of, forecast
from playground.runs.registry import Runs
from playground.training.schedule import learning_rate
from playground.words import paragraph, say
from playground.words.amounts import duration, percentage, short

MAX_CHOICES = 5  # maximum of choices named
POINTS = 140  # approximate number of steps drawn, always with the turning point


def describe_cost(runs: Runs, language: str, values: Mapping[str, Any], ticket: str = "") -> tuple[str, str | None]:
    """Returns (the training time and, folded, its reasons, in Markdown; for impossible settings the refusal's sentence; the settings'
    preset)."""
    preset_name = None
    try:
        experiment = experiment_of(values)
        preset_name = find_preset(experiment)
        pairs = uploading.find_pairs(runs, experiment.data.own, ticket) if experiment.data.task == "own" else None
        if experiment.data.task == "own" and pairs is None:
            raise Refusal("page.no_upload_yet", knob="task")
        about = f"knobs.preset_about.{preset_name}" if preset_name else "page.own_settings"
        prediction = forecast(experiment, pairs)
        seconds, is_timed = duration_of(experiment, prediction)
        key = "page.outlook_timed" if is_timed else "page.outlook"
        time = say(language, key, steps=f"{experiment.training.steps:,}", time=duration(seconds, language))
        why = f"{say(language, about)}\n\n{_describe_work(experiment, prediction, language)}"
        return f"<details><summary>{time}</summary>\n\n{why}\n\n</details>", preset_name
    except Refusal as refusal:
        return refusal.say(language), preset_name


def experiment_of(values: Mapping[str, Any]) -> Experiment:
    """Returns the experiment of the settings at the left, defaults for empty ones. Raises Refusal."""
    return Experiment().with_(**{name: value for name, value in values.items() if value is not None})


def draw_schedule(language: str, values: Mapping[str, Any]) -> str:
    """Draws the learning rate by step of a training with these settings, as HTML; "" for impossible ones."""
    try:
        experiment = experiment_of(values)
    except Refusal:  # the outlook explains it
        return ""
    training, rates = experiment.training, sample_rates(experiment)
    peak = max(rates, key=rates.get)
    numbers = {"peak": short(rates[peak]), "step": f"{peak:,}", "last": short(rates[training.steps]), "steps": f"{training.steps:,}"}
    caption = say(language, "page.schedule", **numbers)
    ends = tuple(say(language, "map.at_step", step=f"{step:,}") for step in (1, training.steps))
    return f"{drawing(rates, caption, ends)}<p>{caption}</p>"


def sample_rates(experiment: Experiment) -> dict[int, float]:
    """Returns step -> learning rate, for some steps of a training and always the first, the last and the end of the warm-up."""
    training, d_model = experiment.training, experiment.model.d_model
    steps = {*range(1, training.steps + 1, max(1, training.steps // POINTS)), min(max(training.warmup, 1), training.steps), training.steps}
    return {step: learning_rate(training, d_model, step) for step in sorted(steps)}


def find_preset(experiment: Experiment) -> str | None:
    """Returns the preset that these settings are, whatever the data; None for others."""
    return next((name for name in PRESETS if preset(name, experiment).flat() == experiment.flat()), None)


def _describe_work(experiment: Experiment, prediction: Forecast, language: str) -> str:
    key = "page.outlook_work" if prediction.device == "cpu" else "page.outlook_work_gpu"
    sentences = [
        say(
            language, key, ms=short(1000 * prediction.step_seconds), operations=short(prediction.work.operations / 1e9),
            tokens=f"{prediction.work.tokens:,.0f}", padding=percentage(prediction.work.padding, 0), within=WITHIN,
        )
    ]  # fmt: skip
    costs = [
        say(
            language,
            "page.outlook_choice",
            name=label(name, language),
            value=shown_value(name, experiment.flat()[name], language),
            factor=short(factor),
        )
        for name, factor in prediction.choices[:MAX_CHOICES]
    ]
    if costs:
        sentences.append(say(language, "page.outlook_choices", choices=say(language, "page.outlook_and").join(costs)))
    return paragraph(sentences)
