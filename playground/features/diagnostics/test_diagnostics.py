"""The health of a run is what training said, else what one backward pass says, and the panel shows these numbers."""

import pytest
import torch

from playground.config import limits
from playground.data.batches import collate
from playground.data.corpus import Item
from playground.features.diagnostics import query as diagnostics
from playground.features.diagnostics.panel import QUANTITIES
from playground.training.step import cross_entropy
from playground.words import say
from tests.runs.tiny import done
from tests.ui.looking import TINY, block

KNOBS = {"steps": 30, "dropout": 0.0}


def test_what_training_said_last_is_shown_and_before_the_first_step_it_is_worked_out(reader, run):
    steps = run.history.diagnostics.column("step")
    assert {1, 10, 20, 30} <= set(steps)  # the replay's beginning and end, and the validations
    for at, step in enumerate(steps):
        for asked in (int(step), int(steps[at + 1]) - 1 if step < 30 else None):
            result = diagnostics.diagnostics(reader, run, asked)
            assert (result.step, result.sentences) == (step, None)
        assert {"step": step} | result.numbers == {name: column[at] for name, column in run.history.diagnostics.rows().items()}
    result = diagnostics.diagnostics(reader, run, 0)
    assert (result.step, result.sentences) == (0, 10)
    assert result.numbers.keys() == {name for name in run.history.diagnostics.names if not name.endswith("/update")} - {"step"} | {"loss"}


@pytest.mark.trust
def test_worked_out_it_is_one_backward_pass_and_cut_the_encoder_gets_exactly_0(reader, unmeasured, model, monkeypatch):
    lengths = [len(source) for source, _ in reader.examples(unmeasured, "heldout", 10)]
    with monkeypatch.context() as patch:  # a sentence and its end must fit
        patch.setattr(diagnostics, "MAX_POSITIONS", max(lengths))
        fitting = sum(length < max(lengths) for length in lengths)
        assert diagnostics.diagnostics(reader, unmeasured, 1).sentences == fitting < len(lengths)
    result = diagnostics.diagnostics(reader, unmeasured, None)
    src, tgt = unmeasured.tokenizers
    pairs = reader.examples(unmeasured, "heldout", result.sentences)
    batch = collate([Item(a, b, tuple(src.encode(a)), tuple(tgt.encode(b))) for a, b in pairs])
    fresh = type(model)(model.config, model.src_vocab, model.tgt_vocab).eval()
    fresh.load_state_dict(model.state_dict())
    loss = cross_entropy(fresh(batch.src, batch.tgt_in).logits, batch.tgt_out)
    loss.backward()
    assert (result.step, result.numbers["loss"]) == (30, pytest.approx(loss.item(), rel=1e-5))
    layer = fresh.encoder[0]
    for route, modules in (("encoder.0.feed_forward", (layer.feed_forward, layer.norm_2)), ("projection", (fresh.projection,))):
        expected = torch.stack([parameter.grad.norm() for module in modules for parameter in module.parameters()]).norm().item()
        assert result.numbers[f"{route}/gradient"] == pytest.approx(expected, rel=1e-4)
    assert not any(p.requires_grad or p.grad is not None for p in model.parameters())  # others look at it too
    assert not any(module._forward_hooks for module in model.modules())
    kinds = diagnostics.recompute(reader, unmeasured, None)
    assert {kinds["cut"].numbers[f"{name}/gradient"] for name in ("memory", "encoder", "src_embedding")} == {0}
    for memory, parts in (("cut", ["decoder"]), ("whole", ["memory", "encoder", "decoder"]), ("mean", ["memory", "encoder", "decoder"])):
        assert min(kinds[memory].numbers[f"{name}/gradient"] for name in parts) > 0
    assert kinds["whole"].numbers == diagnostics.diagnostics(reader, unmeasured, None).numbers
    unmeasured.history.events.append((10, "memory_mode", "cut"))
    assert diagnostics.diagnostics(reader, unmeasured, None).numbers["encoder/gradient"] == 0.0
    first = next(step for step in unmeasured.replay.parameter_steps if 0 < step < 10)  # at step 0 the decoder asks the memory nothing yet
    assert diagnostics.diagnostics(reader, unmeasured, first).numbers["encoder/gradient"] > 0


MINE = "h" * 32


@pytest.fixture(scope="module")
def trained(site):
    return done(site.train(MINE, TINY | {"steps": 12, "eval_every": 4}))


def written(number: float) -> str:
    return f"{number:.3g}".replace("-", "−")


@pytest.mark.trust
def test_cut_the_table_says_exactly_0_and_formula_and_count_stand_side_by_side_and_agree(site):
    rows = {row[0]: row[1:] for row in block(site.panel("diagnostics", run="reverse"), "three")["rows"]}
    assert list(rows) == [say("en", f"diagnostics.memory_{memory}") for memory in limits("memory_mode").choices]
    assert rows[say("en", "diagnostics.memory_cut")][:2] == ["0", "0"]
    assert all(float(number) > 0 for memory in ("whole", "mean") for number in rows[say("en", f"diagnostics.memory_{memory}")])
    panel = site.panel("diagnostics", run="german_english")
    rows, text = block(panel, "costs-table")["rows"], block(panel, "costs-said")["text"]
    assert all(row[1] == row[2] and row[3] == row[4] for row in rows)
    assert say("en", "diagnostics.agree") in text
    total = sum(parameter.numel() for parameter in site.reader.model_at(site.runs.get("german_english"), None)[0].parameters())
    assert rows[-1][1] == f"{total:,}"
    assert say("en", "diagnostics.heads_same", heads="1, 2, 4, 8", parameters=rows[-1][1], flops=rows[-1][3]) in text


def test_curves_and_gauges_are_what_was_recorded_at_the_step_of_the_replay(site, trained):
    table = trained.history.diagnostics
    for gauge, quantity in QUANTITIES.items():
        panel = site.panel("diagnostics", run=trained.id, gauge=gauge, route="1")
        assert (panel["step"], panel["recorded"]) == (12, True)
        course = block(panel, "parts-course")
        assert course["figure"]["data"][-1]["x"] == table.column("step")
        if gauge in ("gradient", "update"):
            numbers = [*map(written, table.column(f"encoder.0.self_attention/{quantity}"))]
            assert course["figure"]["data"][-1]["customdata"] == numbers
            assert block(panel, "parts-now")["figure"]["data"][0]["text"][1] == numbers[-1]
    ends = [trace["customdata"][-1] for trace in block(panel, "reaching")["figure"]["data"]]
    assert ends == [written(table.column(f"{name}/gradient")[-1]) for name in ("memory", "encoder", "decoder")]
    trained.history.events.append((4, "memory_mode", "cut"))
    for step in (0, 1, 4, 12):
        panel = site.panel("diagnostics", run=trained.id, step=step)
        assert (panel["step"], panel["recorded"]) == (step, step > 0)  # the replay's beginning, and the validations, are examined
    trained.history.events.pop()
    assert say("en", "diagnostics.changed_cut", step="4") in block(panel, "reaching")["caption"]
