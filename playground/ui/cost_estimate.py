"""What the settings at the left amount to: which preset they are, how much is to be computed, what each choice costs, and the learning
rate step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.config import PRESETS, Experiment, Refusal, preset
from playground.figures.schedule import drawing
from playground.runs.forecast import WITHIN, Forecast, duration_of, forecast
from playground.runs.registry import Runs
from playground.training.schedule import learning_rate
from playground.ui.controls import label, shown_value
from playground.ui.upload import uploading
from playground.words import paragraph, say
from playground.words.amounts import duration, percentage, short

CHOICES = 5  # the most that are named
POINTS = 140  # about so many steps of a schedule are drawn, and in any case the one at which it turns


def outlook(runs: Runs, language: str, values: Mapping[str, Any], ticket: str = "") -> tuple[str, str | None]:
    """(how long the training takes and, folded, why, in Markdown; a refusal's sentence where such a training can't be; the preset that the
    settings are)."""
    found = None
    try:
        experiment = wanted(values)
        found = preset_of(experiment)
        pairs = uploading.found(runs, experiment.data.own, ticket) if experiment.data.task == "own" else None
        if experiment.data.task == "own" and pairs is None:
            raise Refusal("page.no_upload_yet", knob="task")
        about = f"knobs.preset_about.{found}" if found else "page.own_settings"
        seen = forecast(experiment, pairs)
        seconds, timed = duration_of(experiment, seen)
        key = "page.outlook_timed" if timed else "page.outlook"
        time = say(language, key, steps=f"{experiment.training.steps:,}", time=duration(seconds, language))
        why = f"{say(language, about)}\n\n{_work(experiment, seen, language)}"
        return f"<details><summary>{time}</summary>\n\n{why}\n\n</details>", found
    except Refusal as refusal:
        return refusal.say(language), found


def wanted(values: Mapping[str, Any]) -> Experiment:
    """The settings as they stand at the left; one that is empty is the default. Raises Refusal."""
    return Experiment().with_(**{name: value for name, value in values.items() if value is not None})


def schedule(language: str, values: Mapping[str, Any]) -> str:
    """The learning rate that a training with these settings would go through, step by step, as HTML; nothing where there can be none."""
    try:
        experiment = wanted(values)
    except Refusal:  # the outlook says it
        return ""
    training, rates = experiment.training, rates_of(experiment)
    peak = max(rates, key=rates.get)
    said = {"peak": short(rates[peak]), "step": f"{peak:,}", "last": short(rates[training.steps]), "steps": f"{training.steps:,}"}
    caption = say(language, "page.schedule", **said)
    ends = tuple(say(language, "map.at_step", step=f"{step:,}") for step in (1, training.steps))
    return f"{drawing(rates, caption, ends)}<p>{caption}</p>"


def rates_of(experiment: Experiment) -> dict[int, float]:
    """Step -> learning rate, for some steps of a whole training and in any case the first, the last and the end of the warm-up."""
    training, d_model = experiment.training, experiment.model.d_model
    steps = {*range(1, training.steps + 1, max(1, training.steps // POINTS)), min(max(training.warmup, 1), training.steps), training.steps}
    return {step: learning_rate(training, d_model, step) for step in sorted(steps)}


def preset_of(experiment: Experiment) -> str | None:
    """The preset that these settings are, whatever the data; None when they are none."""
    return next((name for name in PRESETS if preset(name, experiment).flat() == experiment.flat()), None)


def _work(experiment: Experiment, found: Forecast, language: str) -> str:
    key = "page.outlook_work" if found.device == "cpu" else "page.outlook_work_gpu"
    said = [
        say(
            language, key, ms=short(1000 * found.step_seconds), operations=short(found.work.operations / 1e9),
            tokens=f"{found.work.tokens:,.0f}", padding=percentage(found.work.padding, 0), within=WITHIN,
        )
    ]  # fmt: skip
    named = [
        say(
            language,
            "page.outlook_choice",
            name=label(name, language),
            value=shown_value(name, experiment.flat()[name], language),
            factor=short(factor),
        )
        for name, factor in found.choices[:CHOICES]
    ]
    if named:
        said.append(say(language, "page.outlook_choices", choices=say(language, "page.outlook_and").join(named)))
    return paragraph(said)
