"""Makes a control for every knob from its declaration: a slider, segments, a list or a check box, labelled in the visitor's language. And
summarises the settings: their preset, the amount of computation, the cost of each choice, and the learning rate by step."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import gradio as gr

from playground.config import PARTS, PRESETS, Experiment, Refusal, default, limits, preset
from playground.features.shared import uploading
from playground.features.shared.figures.plain import drawing
from playground.features.shared.naming import CONTROLLED, label, shown_value
from playground.runs.forecast import WITHIN, Forecast, duration_of, forecast
from playground.runs.registry import Runs
from playground.training.optimisers import learning_rate
from playground.words import ENGLISH, duration, paragraph, percentage, say, short

OWN = "own"  # the preset list's entry for custom settings
MAX_CHOICES = 5  # maximum of choices named
POINTS = 140  # approximate number of steps drawn, always with the turning point
SEGMENTS = 18  # maximum letters of choices side by side; longer ones become a list


def _group_knobs(part: str) -> tuple[list[str], list[str]]:
    """Returns the knobs of one part: basic ones, and those that are folded."""
    names = [knob.name for knob in fields(PARTS[part]) if knob.name in CONTROLLED]
    return [name for name in names if limits(name).first], [name for name in names if not limits(name).first]


GROUPS = {part: _group_knobs(part) for part in ("data", "model", "training")}  # in the order of the page


def help_text(name: str, language: str) -> str:
    """Returns one sentence of help with the default; a live knob's help says itself that it is live."""
    default_text = shown_value(name, default(name), language)
    return paragraph([say(language, f"knobs.{name}.help"), say(language, "page.default", value=default_text)])


def list_options(name: str, language: str) -> list[tuple[str, Any]]:
    return [(shown_value(name, choice, language), choice) for choice in limits(name).choices]


def make_control(name: str) -> gr.components.Component:
    """Returns a knob's Gradio component, in English; `translate` translates it."""
    knob, value = limits(name), default(name)
    common = dict(label=label(name, ENGLISH), info=help_text(name, ENGLISH), elem_id=f"knob-{name}")
    if isinstance(value, bool):
        return gr.Checkbox(value=value, **common)
    if knob.choices:
        if sum(len(text) for text, _ in list_options(name, ENGLISH)) <= SEGMENTS:
            return gr.Radio(choices=list_options(name, ENGLISH), value=value, elem_classes="pg-segmented", **common)
        return gr.Dropdown(choices=list_options(name, ENGLISH), value=value, filterable=False, **common)
    bounds = dict(minimum=knob.low, maximum=knob.high, step=knob.step)
    if knob.typed:
        return gr.Number(value=value, precision=0 if isinstance(value, int) else None, **bounds, **common)
    return gr.Slider(value=value, **bounds, **common)


def make_preset_list() -> gr.Dropdown:
    """Returns the list of presets. Custom settings are a value of its own and no choice: Gradio breaks when an open list gets shorter."""
    presets = gr.Dropdown(
        allow_custom_value=True,
        choices=preset_options(ENGLISH),
        value="default",
        elem_id="preset",
        label=label("preset", ENGLISH),
        info=say(ENGLISH, "knobs.preset.help"),
    )
    presets.filterable = False  # no user types that value: the constructor rejects the combination
    return presets


def preset_options(language: str) -> list[tuple[str, str]]:
    return [(say(language, f"knobs.preset.{name}"), name) for name in PRESETS]


def preset_update(preset_name: str | None, language: str) -> dict[str, Any]:
    """Returns the update that selects the settings' preset, or marks them as custom."""
    return gr.update(value=preset_name or say(language, f"knobs.preset.{OWN}"))


def translate(name: str, language: str) -> dict[str, Any]:
    """Returns the update that translates a control; its value stays."""
    if name == "preset":
        return gr.update(label=label(name, language), info=say(language, "knobs.preset.help"), choices=preset_options(language))
    words: dict[str, Any] = dict(label=label(name, language), info=help_text(name, language))
    if limits(name).choices and not isinstance(default(name), bool):
        words["choices"] = list_options(name, language)
    return gr.update(**words)


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
