"""Both sides of the comparison take the same batches, and the parts of a step add up to it."""

import time

import pytest
import torch

from benchmarks.pace import cores, timed
from benchmarks.step_rate import PEER, at_width, inside, theirs
from benchmarks.step_rate.floor import matmul_rate, step_flops, step_tokens
from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.model.sublayers import flops
from playground.training.loop import Training
from tests.benchmarks.test_benchmarks import SUMMARY, result_of
from tests.thoroughness import every_case

SMALL = {"train_size": 200, "validation_size": 20, "batch_size": 8, "encoder_layers": 1, "decoder_layers": 1}


@pytest.fixture(scope="module")
def corpus():
    return build_corpus(Experiment().with_(**SMALL).data)


@pytest.mark.night
def test_step_rate(capsys):
    result = result_of(capsys, "step_rate")
    assert [(row["d_model"], row["threads"]) for row in result["rows"]] == [(16, 1)] * 4
    rows = {row["who"]: row for row in result["rows"]}
    assert rows.keys() == {"default", "fast", "default by AdamW", PEER}
    floors = {row["type"]: row for row in result["floors"]}
    assert floors.keys() == {"float32", "bfloat16"}
    for row in rows.values():
        for name in ("seconds", "rate", "tokens", "share", "ratio"):
            assert row[name].keys() == SUMMARY
            assert len(row[name]["values"]) == 2
        for at in range(2):
            floor, took = floors["float32"]["seconds"]["values"][at], row["seconds"]["values"][at]
            assert row["share"]["values"][at] == pytest.approx(floor / took)
            assert row["ratio"]["values"][at] == pytest.approx(rows[PEER]["seconds"]["values"][at] / took)
    assert {row["who"] for row in result["parts"]} == {row["who"] for row in result["kinds"]} == rows.keys() - {PEER}
    for row in result["parts"]:
        assert all(row[name] >= 0 for name in inside.PARTS)
        assert min(row["forward"], row["backward"], row["optimiser"]) > 0
    for row in result["kinds"]:
        assert min(row["products"], row["attention"], row["elementwise"], row["optimiser"]) > 0


def test_both_sides_take_the_same_pairs_of_the_same_size(corpus):
    experiment = at_width("default", 16, SMALL)
    peer, steps = theirs(experiment, corpus), Training(experiment, corpus).steps()
    assert [peer() for _ in range(30)] == [next(steps).tokens for _ in range(30)]  # more than one pass over the data


def test_the_floor_counts_real_tokens_only(corpus):
    config, pairs = at_width("default", 16, SMALL).model, 8
    each = [flops(config, 30, len(item.src_ids) + 1, len(item.tgt_ids) + 1) for item in corpus.train]
    assert step_flops(config, 30, corpus.train, pairs) == pytest.approx(3 * pairs * sum(sum(one.values()) for one in each) / len(each))
    tokens = sum(len(item.src_ids) + len(item.tgt_ids) + 2 for item in corpus.train)
    assert step_tokens(corpus.train, len(corpus.train)) == tokens


def test_a_rate_is_measured_in_little_time():
    started = time.process_time()
    assert matmul_rate(32, 128, 10**6, torch.float32, 0.05) > 1e6
    assert time.process_time() - started < 5  # on fewer rows: a million would not fit


def test_a_step_is_split_where_parts_overlap():
    spans = [("forward", 1.0, 3.0), ("forward", 1.0, 4.0), ("backward", 3.0, 6.0), ("optimiser", 8.0, 9.0)]
    found = inside.split(spans, 0.0, 10.0)
    assert found == {"batch": 1.0, "forward": 2.5, "backward": 2.5, "optimiser": 1.0, "rest": 3.0}
    assert sum(found.values()) == 10.0


def test_a_step_without_work_is_all_batch():
    assert inside.split([], 2.0, 5.0) == {"batch": 3.0, "forward": 0.0, "backward": 0.0, "optimiser": 0.0, "rest": 0.0}


def test_looking_inside_leaves_no_trace(corpus):
    experiment = at_width("fast", 16, SMALL)
    seen, alone = (Training(experiment, corpus) for _ in range(2))
    before = torch.autograd.grad, torch.autograd.backward
    steps = seen.steps()
    inside.parts(seen, steps, 2)
    inside.kinds(seen, steps, 1, 1.0)
    assert (torch.autograd.grad, torch.autograd.backward) == before
    assert "step" not in vars(seen.optimiser)
    losses = [step.loss for step, _ in zip(alone.steps(), range(5), strict=False)][3:]
    assert [next(steps).loss for _ in range(2)] == losses


@every_case(
    ("name", "kind"),
    [
        ("aten::addmm", "products"),
        ("aten::mm", "products"),
        ("aten::bmm", "attention"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu_backward", "attention"),
        ("aten::add_", "elementwise"),
        ("aten::native_layer_norm_backward", "elementwise"),
        ("aten::copy_", "copies"),
        ("aten::embedding_dense_backward", "copies"),
        ("aten::transpose", "dispatch"),
        ("autograd::engine::evaluate_function: MmBackward0", "dispatch"),
    ],
)
def test_every_operation_has_a_kind(name, kind):
    assert inside.kind(name) == kind
    assert inside.kind(name, in_optimiser=True) == "optimiser"


@pytest.mark.parametrize("count", [1, 2])
def test_cores_work_as_map_does(count):
    with cores(count) as parallel_map:
        assert list(parallel_map(lambda number: number * number, range(5))) == [0, 1, 4, 9, 16]
        assert set(parallel_map(lambda _: torch.get_num_threads(), range(5))) == {1}


def test_at_least_two_steps_are_timed():
    calls = []
    assert len(timed(lambda: calls.append(0), 0.0)) == 2
    assert len(calls) == 3  # the first is not timed
