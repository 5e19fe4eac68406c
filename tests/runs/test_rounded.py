"""Parameters in a byte each: near the exact ones at every step, and the attention of the model with it; and the shipped runs."""

import itertools

import numpy as np
import pytest
import torch

from playground.config import EOS, Experiment
from playground.decoding import trace
from playground.runs.disk.files import tree_size
from playground.runs.disk.store import SHIPPED, read_shipped
from playground.runs.queue import train_inline
from playground.runs.queue.train_inline import CHECKPOINTS, MAX_TOTAL_BYTES, checkpoint_experiment, make_checkpoints
from playground.runs.replay import MAX_SAVED, MIN_FRAMES, ROUNDING, Replay, replay_steps
from playground.runs.rounded import HEADER_BYTES, LARGEST, pack_rounded, round_parameters, rounded_bytes, rounded_shapes, unpack_rounded
from playground.variants import build
from tests.runs.tiny import CORPORA, TINY, tiny, train_here

SENTENCES = 10


def walk(steps: int, shape: tuple[int, ...], by: float = 0.05) -> dict[int, dict[str, torch.Tensor]]:
    """Parameters that change a little at each step, from a fixed seed."""
    random = torch.Generator().manual_seed(1)
    values, kept = torch.randn(shape, generator=random), {}
    for step in range(steps):
        kept[step] = {"a": values.clone()}
        values += by * torch.randn(shape, generator=random)
    return kept


@pytest.mark.parametrize("shape", [(5,), (4, 6), (2, 3, 4)])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_errors_do_not_add_up_and_what_does_not_change_is_exact(count, shape):
    exact = {step: {"a": kept["a"], "still": torch.tensor([[0.5, -2.0], [0.0, 0.0]])} for step, kept in walk(count, shape).items()}
    rounded = []
    for parameters in exact.values():
        rounded.append(round_parameters(parameters, rounded[-1] if rounded else None))
    tensors = pack_rounded(rounded)
    types = {torch.float16: "F16", torch.int8: "I8", torch.bfloat16: "BF16"}
    packed = {name: (types[tensor.dtype], tuple(tensor.shape)) for name, tensor in tensors.items()}
    assert packed == rounded_shapes(count, {"a": shape, "still": (2, 2)})
    first, later = rounded_bytes({"a": shape, "still": (2, 2)})
    numbers = sum(tensor.nbytes for tensor in tensors.values())
    assert not count or numbers == first - 6 * HEADER_BYTES + (count - 1) * later
    back = unpack_rounded(count, tensors, ["a", "still"])
    assert all(torch.equal(ours["a"], theirs["a"]) for ours, theirs in zip(rounded, back, strict=True))
    for before, step in itertools.pairwise(range(count)):
        change = (exact[step]["a"] - back[before]["a"]).abs().max()
        assert (back[step]["a"] - exact[step]["a"]).abs().max() <= change / LARGEST
    assert all(torch.equal(back[step]["still"], exact[step]["still"]) for step in exact)


@pytest.mark.night
@pytest.mark.parametrize("knobs", [{}, {"seed": 2}, {"task": "sort", "norm": "pre"}, CHECKPOINTS["german_english"]])
def test_a_run_takes_5_mb_and_no_attention_weight_changes_by_more_than_the_page_says(monkeypatch, knobs):
    exact, keep = {}, Replay.save_parameters

    def note(replay, step, parameters):
        if kept := keep(replay, step, parameters):
            exact[step] = parameters
        return kept

    monkeypatch.setattr(Replay, "save_parameters", note)
    run = train_here(Experiment().with_(**knobs))
    assert sum(map(len, train_inline.contents(run).values())) < 5_000_000
    heldout = CORPORA.get(run.experiment).heldout[:SENTENCES]
    model = build(run.experiment.model, *(tokenizer.size for tokenizer in run.tokenizers)).eval()

    def weights(parameters):
        model.load_state_dict(dict(parameters), strict=False)
        traces = [trace(model, item.src_ids, (*item.tgt_ids, EOS)) for item in heldout]
        return np.concatenate([stack.ravel() for each in traces for stack in (each.encoder, each.decoder, each.cross)])

    assert len(exact) >= (MAX_SAVED if run.experiment.model.d_model == 64 else len(run.replay.steps) - 1)
    assert max(np.abs(weights(exact[step]) - weights(run.replay.parameters_by_step[step])).max() for step in exact) < ROUNDING


def test_they_are_made_into_a_folder_and_read_back_by_their_folders_names(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(train_inline, "CHECKPOINTS", {"sort": {**TINY, "task": "sort", "steps": 3}})
    for _ in range(2):  # the second takes the place of the first
        (run,) = make_checkpoints(tmp_path, ("sort",))
    assert [path.name for path in tmp_path.iterdir()] == ["sort"]
    (tmp_path / "broken").mkdir()
    (tmp_path / "README.md").write_text("")
    (back,) = read_shipped(tmp_path)
    assert (run.step, back.id, back.name, back.step, back.experiment) == (3, "sort", "sort", 3, tiny(task="sort", steps=3))
    assert (back.owner, back.shipped, back.resumable, "broken" in caplog.text) == ("", True, False, True)
    assert read_shipped(tmp_path / "nowhere") == []
    assert tree_size(tmp_path) == sum(file.stat().st_size for file in (tmp_path / "sort").iterdir())


@pytest.mark.skipif(not any(SHIPPED.glob("*/run.json")), reason="no checkpoints are here: python -m playground checkpoints")
def test_all_shipped_runs_are_there_small_and_whole_and_every_frame_has_its_parameters():
    shipped = {run.id: run for run in read_shipped(SHIPPED)}
    assert tree_size(SHIPPED) <= MAX_TOTAL_BYTES
    for name in CHECKPOINTS:
        run = shipped[name]
        assert (run.experiment, run.status) == (checkpoint_experiment(name), "done")
        assert run.exact_match >= 0.95
        assert run.replay.steps[-1] == run.snapshot.step == run.step
        assert run.replay.parameter_steps == run.replay.steps == replay_steps(run.steps, MIN_FRAMES)
