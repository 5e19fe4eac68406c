"""The twelve beliefs: a place for each, one right option, a sentence to every wrong one; and each number of an answer, computed again."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import playground
from playground import cursor
from playground.features.shared.queries.reader import Reader
from playground.inspection.interventions import Change
from playground.lessons.checks import BELIEFS
from playground.runs.registry import Runs
from playground.ui.boot import LISTS
from playground.variants import build
from playground.words import LANGUAGES, entries


def test_each_has_a_place_one_right_option_and_a_sentence_to_every_wrong_one():
    assert len(BELIEFS) == 12
    for name, belief in BELIEFS.items():
        assert cursor.read_query(belief.to, LISTS) == (belief.to, {})
        posed = belief.pose()
        assert posed.answer.key == f"{name}_choice_{belief.right}"
        assert len(set(posed.options)) == 1 + len(belief.wrong) >= 3
        for words in map(entries, LANGUAGES):
            assert all(words[f"checks.{key}"] for key in (name, *(option.key for option in posed.options)))
            assert all(words[f"checks.{name}_choice_{option}_why"] for option in belief.wrong)
            assert all(f"{{{number}" in words[f"checks.{name}_why"] for number in belief.measured), name


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """Computes the numbers of all answers from the runs that ship with the app."""
    runs = Runs(tmp_path_factory.mktemp("beliefs"))
    reader, shipped = Reader(runs), {run.id: run for run in runs.shipped()}
    german, reverse, counting = map(playground.load, ("german_english", "reverse", "numbers_de"))
    words, letters, counted = (reader.examples(shipped[name], "heldout", 100) for name in ("german_english", "reverse", "numbers_de"))
    words, letters = ([source for source, _ in pairs[:60]] for pairs in (words, letters))
    rows = shipped["german_english"].history.validations.rows()
    reader.close()
    runs.close()
    attention = list(map(german.attention, words))
    plain = german.translate(words)

    def unchanged(off: str) -> int:
        outputs = replace(german, model=Change.parse(off=off).apply(german.model)).translate(words)
        return sum(map(str.__eq__, outputs, plain))

    def right(beam: int) -> int:
        return sum(map(str.__eq__, counting.translate([source for source, _ in counted], beam=beam), (target for _, target in counted)))

    def operations(src: torch.Tensor) -> int:
        with FlopCounterMode(display=False) as counter:
            model(src, full)
        return counter.get_total_flops()

    model, layer = reverse.model, german.model.encoder[0].self_attention
    full, src, order = torch.arange(4, 20)[None], torch.tensor([[5, 9, 7, 12, 6, 2]]), [3, 0, 5, 1, 4, 2]
    padded = full.where(full < 12, 0)
    bare = build(replace(model.config, positions="none"), 30, 30).eval()
    bare.load_state_dict(model.state_dict())
    causal = build(replace(model.config, architecture="causal_decoder"), 30, 30)
    tgt = torch.tensor([[1, 5, 9, 7, 12, 6]])
    other = tgt.where(torch.arange(6) < 3, 20)
    parts = sum(((each.encoder > 0).all(axis=(-2, -1)).astype(int) for each in attention), start=np.zeros(1, int)) == len(attention)
    sizes = {sum(map(torch.numel, build(replace(model.config, n_heads=heads), 30, 30).parameters())) for heads in (1, 2, 4, 8)}
    with torch.no_grad():
        moved = [(each.encode(src)[0][:, order] - each.encode(src[:, order])[0]).abs().max().item() for each in (model, bare)]
        future = (model(src, tgt).logits - model(src, other).logits)[:, :3].abs().max().item()
    at = rows["step"].index(40)
    five = BELIEFS["unchanged"].to["off"]
    return {
        "qkv": {"cosine": torch.cosine_similarity(layer.W_q.weight.flatten(), layer.W_k.weight.flatten(), dim=0).item()},
        "importance": {
            "weight": 100 * np.mean([each.cross[1, 3].max(axis=-1).mean() for each in attention]), "same": unchanged("c2.4"), "all": 60,
        },
        "triangle": {"percent": 100 * np.mean([reverse.attention(word).cross[-1, :, 0, 1:].sum(axis=-1) for word in letters])},
        "wider": {"greedy": right(1), "beam": right(4), "wide": right(10), "all": len(counted)},
        "padding": {"padded": operations(padded), "short": operations(full[:, :8])},
        "unchanged": {"alone": min(map(unchanged, five.split("_"))), "together": unchanged(five), "all": len(words)},
        "cheating": {"change": future},
        "sentences": {"tokens": 100 * rows["token_accuracy"][at], "exact": 100 * rows["exact_match"][at]},
        "parts": {"heads": int(parts.sum())},
        "learnt_positions": {"with": moved[0], "without": moved[1]},
        "more_heads": {"parameters": sizes.pop() if len(sizes) == 1 else sizes},
        "gpt": {"parameters": sum(p.numel() for name, p in causal.named_parameters() if "cross" in name or name.startswith("encoder"))},
        "full": operations(full),
    }  # fmt: skip


@pytest.mark.parametrize("name", BELIEFS)
def test_the_numbers_of_its_answer_are_those_of_the_shipped_models(numbers, name):
    measured = BELIEFS[name].measured
    tolerance = {"abs": 1e-5} if name == "learnt_positions" else {"abs": 0.5 if name in ("importance", "triangle", "sentences") else 0.005}
    assert numbers[name] == {key: pytest.approx(value, rel=0.01 if key == "with" else 0, **tolerance) for key, value in measured.items()}
    assert numbers["full"] == numbers["padding"]["padded"], "a mask leaves out nothing"
