"""A look into a run and a recording are its model's own pass, computed once, of whatever is typed; and who looks changes nothing."""

from types import SimpleNamespace

import numpy as np
import pytest

from playground.config import BOS, EOS, MAX_POSITIONS, SPECIAL_TOKENS, Refusal
from playground.decoding import trace
from playground.features.shared.queries import results
from playground.features.shared.queries.activations import Cell, activations
from playground.features.step.query import starting_point
from playground.features.translate.query import translate
from playground.inspection.activations import record
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.runs.run import Run
from tests.runs.tiny import alone, curve, refused, same_parameters, tiny

KNOBS = {"task": "sort", "steps": 40, "dropout": 0.0, "positions": "learned"}


def test_a_look_is_the_trace_and_the_reference_is_aligned_and_right(reader, run, model, text):
    look = reader.look(run, None, text)
    written = tuple(piece.id for piece in look.targets)
    expected = trace(model, run.tokenizers[0].encode(text), written)
    for name in ("encoder", "decoder", "cross"):
        assert np.array_equal(getattr(look, name), getattr(expected, name))
    assert look.cross.shape == (1, 2, len(look.targets), len(look.source))
    assert (look.source[-1].text, look.source[-1].id) == (SPECIAL_TOKENS[EOS], EOS)
    assert (look.fed[0].text, look.fed[1:]) == (SPECIAL_TOKENS[BOS], look.targets[:-1])
    assert len(look.right) == len(look.targets)
    assert all(len(row) == 5 and row[0].probability >= row[4].probability for row in look.likely)
    assert [row[0].id for row in look.likely] == list(written)
    assert look.probabilities == tuple(row[0].probability for row in look.likely)
    text, target = reader.examples(run)[0]
    look = reader.look(run, None, text, "reference")
    assert "".join(piece.text for piece in look.targets[:-1]).replace(" ", "") == target.replace(" ", "")
    assert (look.finished, all(look.right)) == (True, True)
    assert (len(look.alignment), look.alignment[-1]) == (len(look.targets), None)
    for place, piece in zip(look.alignment[:-1], look.targets[:-1], strict=True):
        assert look.source[place].text == piece.text  # sorting moves letters, it makes none
    wrong = reader.look(run, None, text, target[::-1] + target[:1])
    assert wrong.alignment is None
    assert not all(wrong.right)


def test_an_earlier_step_is_the_nearest_kept_and_own_sentences_have_all_their_answers(reader, run, text):
    kept = run.replay.parameter_steps
    assert [translate(reader, run, step, text).step for step in (0, 10**6)] == [0, kept[-1]] == [0, 40]
    for step in range(41):
        _, actual = reader.model_at(run, step)
        assert abs(actual - step) == min(abs(other - step) for other in kept)
        assert same_parameters(dict(reader.model_at(run, step)[0].named_parameters()), run.replay.parameters(step)[1])
    own = tiny(task="own", own="upload")
    pairs = Pairs((Pair("a b", "x", 1), Pair("c", "y", 2), Pair("a b", "z", 3)), {}, 3, "tsv", ("a.tsv",))
    run = Run("an-id-of-a-run-of-own", "some-name", own, data=pairs)
    assert [results.references(run, text) for text in ("a b", "c", "d")] == [("x", "z"), ("y",), None]
    assert results.references(Run("an-id-of-a-run-of-none", "some-name", own), "c") is None


def test_of_a_run_at_work_the_step_that_is_taken_apart_changes_only_when_its_steps_have_doubled():
    for saved, begins in ((None, 5), (3, 3)):
        run = SimpleNamespace(tokenizers=(), unfinished=True, checkpoint_step=saved, steps=99, step=7, first_step=0, working=True)
        run.snapshot, run.replay = None, SimpleNamespace(parameters_by_step=dict.fromkeys((1, 2, 3, 5, 7)))
        assert starting_point(run, None).step == begins


def test_where_no_parameters_were_kept_the_replay_answers_for_its_probes(reader, run, monkeypatch):
    replay = run.replay
    monkeypatch.setattr(replay, "parameters_by_step", {step: kept for step, kept in replay.parameters_by_step.items() if step != 19})
    model, actual = reader.model_at(run, 19)
    assert actual != 19
    for probe, (source, _) in enumerate(replay.plan.probes):
        look, picture = reader.look(run, 19, source), replay.frame(19).completions[probe]
        assert (look.step, tuple(piece.id for piece in look.targets)) == (19, picture.ids)
        assert np.array_equal(look.cross, picture.cross.astype(np.float32))
        assert len(look.likely[0]) == 5
    other = next(source for source, _ in reader.examples(run) if source not in dict(replay.plan.probes))
    assert reader.look(run, 19, other).step == actual
    assert not model.training


def test_looking_while_it_trains_changes_nothing_in_the_training(reader, world):
    live, steps = world.runs.create(tiny(steps=30), "my token"), set()
    world.until(lambda: live.snapshot is not None)
    while live.working:
        live.mark_seen()
        steps.add(reader.look(live, None, reader.examples(live)[0][0]).step)
        if not world.turn():
            world.round()
    assert curve(live) == curve(alone(tiny(steps=30))[0])
    assert len(steps) > 1


def test_what_is_empty_too_long_or_not_there_yet_is_refused(reader, run):
    fresh, other = Run("not-yet-prepared-run-id", "calm-fox", tiny()), alone(tiny())[0]
    table, step = reader.position_table(run, None)
    assert (table.shape, step) == ((MAX_POSITIONS, 8), 40)
    for ask, key in (
        *((lambda text=text: reader.look(run, None, text), "runs.empty") for text in ("", "   ", "\n\t", "\ud800")),
        *((lambda size=size: translate(reader, run, None, "a" * size), "runs.too_long") for size in (MAX_POSITIONS, 3_000_000)),
        (lambda: reader.look(run, None, "ab", target="a" * MAX_POSITIONS), "runs.too_long"),
        (lambda: reader.look(fresh, None, "abc"), "runs.nothing_yet"), (lambda: reader.pieces(fresh, "abc"), "runs.nothing_yet"),
        (lambda: reader.model_at(fresh, None), "runs.nothing_yet"), (lambda: starting_point(fresh, None), "runs.nothing_yet"),
        (lambda: reader.position_table(other, None), "runs.no_positions"),
    ):
        with refused(key):
            ask()


def test_an_answer_is_computed_once_two_kinds_of_work_share_none_and_what_is_known_waits_for_no_thread(reader, run, text, monkeypatch):
    assert reader.look(run, None, text) is reader.look(run, 40, text) is not reader.look(run, 0, text)
    assert translate(reader, run, 0, text) is translate(reader, run, 0, text)
    key = ("scores", 0)

    def one(model, actual):
        return "one"

    def other(model, actual):
        return "other"

    for _ in range(2):  # made, then remembered
        assert [reader.work(run, 0, key, work) for work in (one, other)] == ["one", "other"]
        assert reader.work(run, 0, key, one, then=(key, lambda model, result: f"more of {result}")) == ("one", "more of one")
    look = reader.look(run, None, text, "reference")
    taken = reader.take_apart(("step", 1), lambda: (1, 2))

    def busy(*_):
        raise TimeoutError

    monkeypatch.setattr(reader._threads, "ask", busy)
    assert np.array_equal(reader.look(run, None, text, "reference").cross, look.cross)
    assert reader.take_apart(("step", 1), list) is taken
    with pytest.raises(Refusal):
        reader.take_apart(("step", 2), list)


WEIGHTS = "decoder.0.cross_attention.weights"


def test_a_recording_is_the_models_own_pass_another_cell_costs_no_other_and_one_that_is_not_there_has_no_derivation(run, reader, model):
    first, nothing = activations(reader, run, None, "abc")
    assert nothing is None
    for cell, index in (
        (Cell(WEIGHTS, 1, 0, 2), (1, 0, 2)), (Cell("src.ids", 1, 3, 0), (3,)), (Cell("memory", 1, 3, 2), (3, 2)),
        (Cell("nothing", 0, 0, 0), None), (Cell(WEIGHTS, 2, 0, 0), None), (Cell(WEIGHTS, 0, 0, 4), None), (Cell("src.ids", 0, 4, 0), None),
    ):  # fmt: skip
        again, derivation = activations(reader, run, None, "abc", cell=cell)
        assert again is first
        assert (derivation and (derivation.address, derivation.index)) == (index and (cell.address, index)), cell
    assert activations(reader, run, None, "abd")[0].number != first.number
    result = activations(reader, run, None, "cab", reference=True)[0]
    assert "".join(piece.text for piece in result.targets) == "abc<eos>"
    assert [result.fed[0].id, result.source[-1].id] == [BOS, EOS]
    assert activations(reader, run, 0, "cab")[0].targets != result.targets, "unless the reference is wanted, its own output"
    recorded = record(model, [piece.id for piece in result.source[:-1]], [piece.id for piece in result.targets])
    assert (result.step, result.stages.keys()) == (run.step, recorded.keys())
    for address, stage in recorded.items():
        assert np.array_equal(result.stages[address].values, stage.values)
    assert result.stages.nbytes == sum(stage.values.nbytes for stage in recorded.values())
    newest, first = activations(reader, run, None, "Ä")[0], activations(reader, run, 0, "Ä", reference=True)[0]
    assert (first.step, first.targets) == (0, newest.targets)
