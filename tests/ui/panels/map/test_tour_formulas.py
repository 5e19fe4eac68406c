"""The formula of a stop, read as it stands, gives the number that is asked for; where it doesn't, the stop says what this model does."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from playground.inspection.activations import record
from playground.lessons.tour import STOPS, reading
from playground.lessons.tour_notes import NOTES, notes
from playground.model.attention import head_widths
from playground.queries.activations import SentenceActivations
from playground.ui.panels.map import tour
from playground.words import LANGUAGES, say
from tests.inspection.test_activations import build
from tests.lessons.test_tour import KINDS, SRC, TGT

HEAD = 0
OTHERS = [{"share_embeddings": "all"}, {"embedding_scale": False}, {"dropout": 0.1}, {"attention_scale": 1.0}]
READ = ("projections", "scores", "mixed", "sublayer", "feed_forward", "cross", "token")  # stops whose formula has others' numbers in it
READ_AS = {  # what a reader of a formula does, for Python
    "Q Kᵀ": "Q @ K.T", "√d_k": "d_k ** 0.5", "∜d_k": "d_k ** 0.25", ") V": ") @ V", "Concat(head_1, …, head_h)": "concat",
    "concat W_O": "concat @ W_O", "x W_": "x @ W_", "max(0": "np.maximum(0", ") W_2": ") @ W_2", "memory W_": "memory @ W_",
}  # fmt: skip


def softmax(x: np.ndarray) -> np.ndarray:
    return torch.tensor(x).softmax(dim=-1).numpy()


def at_stop(model, stages, stop: str, language: str = "en") -> dict:
    """The stop's block, of a run that has nothing but this model."""
    pieces = [SimpleNamespace(text=str(n)) for n in range(12)]
    found = SentenceActivations(0, tuple(pieces[: len(SRC) + 1]), tuple(pieces[: len(TGT)]), tuple(pieces[: len(TGT)]), stages)
    run = SimpleNamespace(experiment=SimpleNamespace(model=model.config), tokenizers=[SimpleNamespace(piece=str)] * 2)
    return tour.block(SimpleNamespace(run=run, say=partial(say, language)), found, stop, HEAD)


def layer_norm(norm: torch.nn.Module) -> Callable:
    return lambda x: norm(torch.tensor(x)).detach().numpy()


def meant(model, stages, stop: str) -> dict:
    """What the letters of a stop's formula stand for in the paper's model: x is what stands on the residual stream before."""
    config, values = model.config, {address: stage.values for address, stage in stages.items()}
    d_k, d_v = head_widths(config)
    name = f"decoder.{config.decoder_layers - 1}.cross_attention" if stop == "cross" else "encoder.0.self_attention"
    attention = model.get_submodule(name)
    stream = [address for address in values if address.startswith("src.")][-1]
    if stop == "feed_forward":
        stream = reading(stages, config, "sublayer", HEAD).address
    elif stop == "cross":
        before = name.replace("cross", "self")
        stream = next(at for at in (f"{before}.norm", f"{before}.residual", f"{before}.W_o") if at in values and not is_pre(config, at))
    letters = {"x": values[stream], "memory": values["memory"], "d_k": d_k, "np": np, "softmax": softmax}
    for letter, wide in {"Q": d_k, "K": d_k, "V": d_v}.items():
        linear, own = getattr(attention, f"W_{letter.lower()}"), slice(HEAD * wide, (HEAD + 1) * wide)
        letters |= {f"W_{letter}": linear.weight.T[:, own].detach().numpy(), letter: values[f"{name}.{letter.lower()}"][HEAD]}
        letters |= {f"b_{letter}": linear.bias[own].detach().numpy()} if config.bias else {}
    inner = model.encoder[0].feed_forward
    for letter, linear in {"O": attention.W_o, "1": inner.W_1, "2": inner.W_2}.items():
        letters |= {f"W_{letter}": linear.weight.T.detach().numpy()}
        letters |= {f"b_{letter}": linear.bias.detach().numpy()} if config.bias else {}
    letters["GELU"] = lambda x: torch.nn.functional.gelu(torch.tensor(x)).numpy()
    return letters | {"concat": values[f"{name}.concat"], "LayerNorm": layer_norm(model.encoder[0].norm_1)}


def is_pre(config, address: str) -> bool:
    return config.norm == "pre" and address.endswith(".norm")


def worked_out(model, stages, stop: str, formula: str) -> np.ndarray:
    """The formula as Python reads it."""
    letters = meant(model, stages, stop)
    if stop == "token":  # its z is what the text says: the last vector times the matrix
        last = f"decoder.{model.config.decoder_layers - 1}.feed_forward"
        whole = next(at for at in (f"{last}.norm", f"{last}.residual", f"{last}.W_2") if at in stages and not is_pre(model.config, at))
        assert formula == "p_j = exp(z_j − max) / Σ exp(z − max)"
        return softmax(model.projection(torch.tensor(stages[whole].values)).detach().numpy())
    for written, read in READ_AS.items():
        formula = formula.replace(written, read)
    formula = formula.removeprefix("head = ").removeprefix("FFN(x) = ").removeprefix("Q = ")
    first, *others = re.split(r", (?=[QKV] = )", formula)
    for definition in others:
        letter, term = definition.split(" = ")
        letters[letter] = eval(term, letters)
    return eval(first, letters)


@pytest.mark.parametrize("knobs", [*KINDS, *OTHERS], ids=str)
def test_a_formula_gives_the_number_or_the_stop_says_why_not(knobs):
    model = build(**knobs)
    stages = record(model, SRC, TGT)
    for stop in READ:
        asked, block = reading(stages, model.config, stop, HEAD), at_stop(model, stages, stop)
        cell = asked.cell[-2:]
        found = worked_out(model, stages, stop, block["formula"])[cell]
        said = [name for name in notes(model.config, stop) if name in ("normed", "rotated", "last_norm")]
        if stop == "feed_forward":
            said = [name for name in said if name != "last_norm"]  # of what comes after it
        assert (found == pytest.approx(asked.value, abs=2e-5, rel=2e-5)) == (not said), (stop, block["formula"], found, asked.value)
        assert all(say("en", f"tour.note_{name}") in block["text"] for name in said)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_model_has_words_at_every_stop(language):
    seen = set()
    for knobs in [*KINDS, *OTHERS]:
        model = build(**knobs)
        stages = record(model, SRC, TGT)
        for stop in STOPS:
            block = at_stop(model, stages, stop, language)
            assert all(block[name] and "{" not in block[name] for name in ("text", "formula", "ask"))
            seen |= {(stop, name) for name in notes(model.config, stop)}
    assert seen == {(stop, name) for stop, names in NOTES.items() for name in names}
    assert not [stop for stop in STOPS if notes(build().config, stop)]  # the paper's model needs none
