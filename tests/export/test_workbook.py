"""A workbook: its formulas, calculated by a library that knows nothing of ours, are the model's own numbers."""

import re
from dataclasses import replace

import numpy as np
import openpyxl
import pytest
import torch
from openpyxl.utils import range_boundaries
from openpyxl.worksheet.formula import ArrayFormula

import playground
from playground.cli import main
from playground.config import EOS, ModelConfig, Refusal
from playground.data.tokenizers import CharacterTokenizer
from playground.export.workbook import Sentence, refuse_unwritable, write_workbook
from playground.variants import build
from playground.words import LANGUAGES, say

formulas = pytest.importorskip("formulas")
TINY = ModelConfig(d_model=8, n_heads=2, encoder_layers=1, decoder_layers=1, d_ff=16)
SETTINGS = {
    "the paper's": {},
    "pre-norm": dict(norm="pre", activation="gelu", positions="learned", share_embeddings="all", memory_mode="mean"),
    "bare": dict(
        norm="none", bias=False, residual=False, attention_scale=1.0, share_embeddings="output", memory_mode="cut", activation="none"
    ),
}  # fmt: skip


def write(language="en", **settings) -> bytes:
    """A model with random parameters reads "aA b*" and is fed "b=A": tokens that spreadsheets take for another, a pattern and a formula."""
    generator, tokenizer = torch.Generator().manual_seed(1), CharacterTokenizer("aAb *=")
    model = build(replace(TINY, **settings), tokenizer.size, tokenizer.size, generator).eval()
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.5, generator=generator)
    sentence = Sentence(tokenizer.encode("aA b*"), [*tokenizer.encode("b=A"), EOS], "tiny", 1, "aA b*", "b=A")
    return write_workbook(model, (tokenizer, tokenizer), sentence, language)


@pytest.fixture(scope="module")
def book(request, tmp_path_factory):
    """A workbook with one of SETTINGS: its sheets, their numbers as written, and the model that calculates them."""
    path = tmp_path_factory.mktemp("book") / "w.xlsx"
    path.write_bytes(write(LANGUAGES[request.param == "bare"], **SETTINGS[request.param]))
    sheets, written = (openpyxl.load_workbook(path, data_only=values) for values in (False, True))
    return sheets, written, formulas.ExcelModel().loads(str(path)).finish()


def calculate(book, changed=None):
    """Yields (formula, cells calculated, cells as written) of each formula; `changed` gives other values to cells by their address."""
    sheets, written, model = book
    results = model.calculate(inputs=changed)
    for sheet in sheets:
        for cell in (cell for row in sheet.iter_rows() for cell in row if isinstance(cell.value, ArrayFormula)):
            left, top, right, bottom = range_boundaries(cell.value.ref)
            name = ":".join(dict.fromkeys(cell.value.ref.split(":")))
            rows = written[sheet.title].iter_rows(top, bottom, left, right, values_only=True)
            yield cell.value.text, results[f"'[w.xlsx]{sheet.title.upper()}'!{name}"].value, list(rows)


@pytest.mark.trust
@pytest.mark.parametrize(
    "book", [name if name == "pre-norm" else pytest.param(name, marks=pytest.mark.night) for name in SETTINGS], indirect=True
)
def test_every_formula_is_what_the_model_computes(book):
    texts = set()
    for text, calculated, written in calculate(book):
        if isinstance(written[0][0], str):
            assert calculated.tolist() == [list(row) for row in written], text
        else:
            np.testing.assert_allclose(calculated.astype(float), np.array(written, float), rtol=1e-5, atol=1e-5, err_msg=text)
        texts.add(text)
    assert {"=MMULT(Q_2_enc1,TRANSPOSE(K_2_enc1))", "=SUM(losses)/SUM(1*(right_ids<>0))"} <= texts


@pytest.mark.parametrize("book", ["pre-norm"], indirect=True)
def test_the_proposed_change_changes_the_loss_as_proposed(book):
    line = book[0].worksheets[0]["A5"].value.replace("−", "-")
    sheet, cell, new, change = re.search(r"on '(.+)'!(\w+) of .* Type =(\S+): .* about (\S+)\.$", line).groups()
    calculated = calculate(book, {f"'[w.xlsx]{sheet.upper()}'!{cell}": float(new)})
    difference = next(float(value[0, 0]) for text, value, _ in calculated if text.startswith("=loss-"))
    assert difference == pytest.approx(float(change), rel=0.3)
    assert difference < 0
    (sheet, cells), *_ = book[0].defined_names["right_tokens"].destinations
    changed = {f"'[w.xlsx]{sheet.upper()}'!{cells.replace('$', '').split(':')[1]}": "<pad>"}  # in place of <eos>
    values = {text: (value, written) for text, value, written in calculate(book, changed)}
    *losses, padded = [float(value[0, 0]) for text, (value, _) in values.items() if text.startswith("=(INDEX(right_ids")]
    assert (padded, float(values["=SUM(losses)/SUM(1*(right_ids<>0))"][0][0, 0])) == (0, pytest.approx(np.mean(losses))), "it doesn't count"


def test_a_shipped_run_is_written_from_the_command_line_and_what_has_no_workbook_names_the_setting(tmp_path, capsys):
    for settings, key in (({"d_model": 40}, "wide"), ({"positions": "rotary"}, "setting"), ({"architecture": "causal"}, "setting")):
        with pytest.raises(Refusal) as refusal:
            refuse_unwritable(replace(TINY, **settings))
        assert refusal.value.key == f"workbook.{key}"
    sort = playground.load("sort")
    with pytest.raises(Refusal, match="shorter sentence"):
        sort.workbook("cab" * 60, tmp_path / "w.xlsx")
    assert main(["export", "sort", "--target", "hello"]) == 2
    assert main(["export", "reverse", "--xlsx", "hello", "-o", str(tmp_path / "w.xlsx")]) == 2
    assert "takes d_model 32 at most" in capsys.readouterr().err
    path = tmp_path / "w.xlsx"
    assert main(["export", "sort", "--xlsx", "hello", "--target", "ehllo", "--language", "zh", "-o", str(path)]) == 0
    assert path.stat().st_size < 5_000_000
    book = openpyxl.load_workbook(path, read_only=True)
    assert book.sheetnames[0] == say("zh", "workbook.sheet_first")
    assert "sort" in book.worksheets[0]["A1"].value
