"""What is said before Train: which preset the settings are, the work, the time, and what each choice costs."""

import pytest

from playground.config import PRESETS, Experiment, preset
from playground.runs.forecast import forecast
from playground.runs.machine_speed import MachineSpeed, count_layers
from playground.ui.controls import describe_cost, draw_schedule, find_preset, sample_rates
from playground.words import LANGUAGES, say, short


@pytest.fixture(autouse=True)
def pace(monkeypatch):
    """A machine of which we know how fast it is."""
    monkeypatch.setattr("playground.runs.forecast.measure_speed", lambda device: MachineSpeed(layer=0.001, operation=1e-11, element=1e-9))


@pytest.mark.night
def test_a_preset_is_known_and_explained(site):
    for name in PRESETS:
        experiment = preset(name, Experiment().with_(task="sort") if "task" not in PRESETS[name] else None)
        assert (find_preset(experiment), find_preset(experiment.with_(seed=7))) == (name, None)
        for language in LANGUAGES:
            text, result = describe_cost(site.runs, language, experiment.flat())
            assert result == name
            assert say(language, f"knobs.preset_about.{name}") in text
            assert say(language, "page.own_settings") in describe_cost(site.runs, language, experiment.with_(seed=7).flat())[0]
    assert describe_cost(site.runs, "en", {"task": "own"})[0] == say("en", "page.no_upload_yet")


def test_the_time_is_that_of_the_calls_the_operations_and_the_elements_and_a_choice_costs_its_difference(site):
    experiment = Experiment().with_(encoder_layers=1, decoder_layers=3)
    result = forecast(experiment)
    assert count_layers(experiment) == 11
    assert result.step_seconds == pytest.approx(0.011 + 1e-11 * result.work.operations + 1e-9 * result.work.elements)
    assert result.seconds == pytest.approx(experiment.training.steps * result.step_seconds)
    plain, wide = Experiment().with_(steps=200), Experiment().with_(steps=200, d_model=128)
    factors = dict(forecast(wide).choices)
    assert factors["d_model"] == pytest.approx(forecast(wide).seconds / forecast(plain).seconds)
    assert factors["steps"] == pytest.approx(200 / Experiment().training.steps)
    assert dict(forecast(Experiment().with_(packing=False)).choices)["packing"] > 1.1
    assert forecast(Experiment().with_(label_smoothing=0.1)).choices == ()  # costs nothing worth saying
    assert short(factors["d_model"]) in describe_cost(site.runs, "en", wide.flat())[0].partition("128")[2]


def test_the_schedule_drawn_before_is_the_one_that_was_recorded_to_its_ends(site):
    for run in map(site.runs.get, ("reverse", "german_english")):
        history = run.history.steps.rows()
        recorded, drawn = dict(zip(history["step"], history["learning_rate"], strict=True)), sample_rates(run.experiment)
        assert len(drawn) > 60
        assert {1, run.experiment.training.steps} <= set(drawn)
        assert drawn == {step: pytest.approx(recorded[step], rel=1e-6) for step in drawn}
    experiment = Experiment().with_(schedule="paper", learning_rate=1.0, warmup=37, steps=10_000)
    rates, drawing = sample_rates(experiment), draw_schedule("zh", experiment.flat())
    assert (max(rates, key=rates.get), len(rates) < 200) == (37, True)
    assert say("zh", "page.schedule", peak=short(rates[37]), step=37, last=short(rates[10_000]), steps="10,000") in drawing
    assert draw_schedule("en", {"steps": "<b>"}) == ""
