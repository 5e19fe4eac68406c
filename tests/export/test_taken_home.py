"""The zip of a run: what it holds, for whom, and that it is true; and its model.py, whose logits are the same to the bit."""

import csv
import io
import json
import re
import sys
import types
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from huggingface_hub import ModelCard

from playground import scripting
from playground.choices import ENCODINGS, VARIANTS
from playground.config import UNK, Experiment, ModelConfig
from playground.data.corpus import split_sources
from playground.data.tokenizers import WordPieceTokenizer
from playground.export import file_name, pack_zip, scores_of, write_folder
from playground.export.documents import _CELLS, card, how, notebook
from playground.export.exported_run import export_run
from playground.export.sources import Part, Piece, join, model_file, use_file
from playground.export.use import Tokenizer, Translator, svg
from playground.features.evaluation import query as evaluation
from playground.pretrained import TrainedRun, load
from playground.runs.disk.store import SHIPPED, read_shipped
from playground.runs.queue import train_inline
from playground.runs.run import Run
from playground.variants import build
from playground.words import LANGUAGES
from tests.runs.conftest import reader  # noqa: F401
from tests.runs.tiny import CORPORA, PAIRS, alone, refused, tiny, train_here

NAMES = {"config.json", "history.csv", "model.py", "model.safetensors", "README.md", "run.ipynb", "use.py"}
NAMES |= {f"{side}_tokenizer.json" for side in ("src", "tgt")}
TEXTS = ("Ein  kleiner\u200b Hund", "你好 世界", "cafe\u0301 x", "", "zzz word3 again")
SMALL = {"d_model": 16, "n_heads": 2, "encoder_layers": 1, "decoder_layers": 1, "d_ff": 8}
GATE = (
    {"norm": "pre", "activation": "gelu", "bias": False, "d_k": 2, "share_embeddings": "output"},
    {"norm": "none", "activation": "none", "attention_scale": 1.0, "share_embeddings": "all", "positions": "rotary"},
    {"memory_mode": "mean", "attention_scale": 0.0, "embedding_scale": False, "residual": False},
    {"memory_mode": "cut"}, {"variant": "additive"},
)  # fmt: skip
NIGHT = (*({"variant": name} for name in VARIANTS if name != "additive"), *({"positions": name} for name in ENCODINGS))


def opened(pieces) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as file:
        assert file.testzip() is None
        return {name: file.read(name) for name in file.namelist()}


@pytest.fixture(scope="module")
def own():
    groups = tuple(pair.src[:5] for pair in PAIRS.pairs)
    return train_here(tiny(task="own", own="a-secret-id", steps=10), replace(PAIRS, given=(3, 0), groups=groups))


@pytest.fixture(scope="module")
def reverse():
    return next(run for run in read_shipped(SHIPPED) if run.name == "reverse")


def test_the_card_says_what_the_run_is_and_a_label_is_text_in_it_and_in_the_name_of_the_file(reader):  # noqa: F811
    run, _ = alone(tiny(share_embeddings="all"))
    exported = export_run(run)
    scores, measured = evaluation.scores(reader, CORPORA, run, None, "heldout"), scores_of(reader, CORPORA, exported)
    for language in LANGUAGES:
        text = card(exported, measured, "https://somewhere/?run=abc", language)
        assert "https://somewhere/?run=abc" in text
        assert "`dropout` | `0.1` | `0.0`" in text
        assert "nrefs:1\\|bs:1000\\|seed:12345\\|case:mixed" in text, "the signature, in a cell of a table"
        data = ModelCard(text).data
        assert (data.library_name, data.license, data.pipeline_tag) == ("transformer-playground", "apache-2.0", "translation")
        results = {entry.metric_type: entry.metric_value for entry in data.eval_results}
        assert results == {"bleu": round(scores.measured.bleu, 2), "chrf": round(scores.measured.chrf, 2)}
    run, _ = alone(tiny())
    named = Run(run.id, "sunny-otter", run.experiment, label='../../"<b>*x*</b>\n--- 我的')
    named.parts = run.parts
    exported = export_run(named)
    assert file_name(exported) == "b-x-b.zip"
    named.label = "我的"
    assert file_name(export_run(named)) == "sunny-otter.zip"
    named.label = "<script>"
    assert "<script>" not in card(exported, None, "", "en").replace("\\<", "")
    for label in ("<img src=http://a.example/>", "![](http://a.example/x.png)", "[here](http://a.example)", "# x\n\n`y`"):
        named.label = label
        title = json.loads(notebook(exported, "en"))["cells"][0]["source"]
        assert not re.search(r"(?<!\\)[<>\[\]`]|\n", title.partition(" ")[2]), title


def test_own_sentences_come_only_when_asked_for_and_are_split_again_as_they_were(own, tmp_path, monkeypatch):
    without = opened(pack_zip(export_run(own), lambda: None))
    assert "sentences.tsv" not in without
    assert b"a-secret-id" not in b"".join(without.values())
    assert b"CC BY, somebody" in without["README.md"]
    assert not any(pair.src.encode() in without["README.md"] + without["run.ipynb"] for pair in PAIRS.pairs)
    rows = opened(pack_zip(export_run(own), lambda: None, sentences=True))["sentences.tsv"].decode().splitlines()
    assert [tuple(row.split("\t")[:2]) for row in rows[1:]] == [pair[:2] for pair in PAIRS.pairs]
    write_folder(own, tmp_path / "home")  # a folder holds the same files
    assert {file.name for file in (tmp_path / "home").iterdir()} == without.keys()
    assert all((tmp_path / "home" / name).read_bytes() == data for name, data in without.items() if name != "README.md")
    with refused("export.without_sentences"):
        scripting.repeat(tmp_path / "home", how(export_run(own)))
    (tmp_path / "home" / "sentences.tsv").write_text("\n".join(rows), encoding="utf-8")
    repeated = []
    monkeypatch.setattr(scripting, "_train", lambda run, *_, **__: repeated.append(run.pairs))
    scripting.repeat(tmp_path / "home", how(export_run(own)))
    again, before, apart = (split_sources(pairs, own.experiment.data) for pairs in (*repeated, own.pairs, replace(own.pairs, groups=())))
    assert again == before != apart


def test_a_run_that_was_stopped_or_moved_is_repeated_by_its_notebook_which_says_where_it_differs(reverse, capsys):
    run = train_inline.new_run(tiny(minutes=5.0))
    for step in train_inline.train(run, CORPORA):
        if step == 4:
            run.live |= {"learning_rate": 0.02, "memory_mode": "mean"}
        if step == 9:
            break
    run.parts["snapshot"] = run.snapshot.__class__(1, 9, run.snapshot.parameters)
    exported = export_run(run)
    repeat = how(exported)
    assert (repeat["step"], set(repeat["moved"])) == (9, {(4, "learning_rate", 0.02), (4, "memory_mode", "mean")})
    assert repeat["knobs"]["memory_mode"] == "whole"
    assert exported.config()["memory_mode"] == "mean"  # which the model has now
    assert repeat["knobs"]["minutes"] == 0.0
    cells = json.loads(notebook(exported, "en"))["cells"]
    assert f"how = {repeat!r}" in [cell["source"] for cell in cells]
    book = json.loads(notebook(export_run(reverse), "en"))
    assert (book["nbformat"], book["nbformat_minor"], len({cell["id"] for cell in book["cells"]})) == (4, 5, len(book["cells"]))
    for cell in book["cells"]:
        is_code = cell["cell_type"] == "code"
        assert cell.keys() == {"cell_type", "id", "metadata", "source"} | ({"execution_count", "outputs"} if is_code else set())
        if is_code:
            compile(cell["source"], cell["id"], "exec")
    before, now = (TrainedRun({}, f"step,loss\n1,4.0\n2,{second}\n3,{last}\n") for second, last in ((3.0, 2.0), (3.5, 2.2)))
    exec(_CELLS["compare"], {"before": SimpleNamespace(run=before), "now": SimpleNamespace(run=now)})
    assert capsys.readouterr().out == "2.0 != 2.2\nstep 2: 3.0 != 3.5; step 3: +10.0%\n"


def test_the_zip_holds_the_run_in_the_same_bytes_each_time_and_what_cannot_be_taken_is_refused(reverse):
    riddle = Run(reverse.id, reverse.name, reverse.experiment, secret=True)
    riddle.parts = reverse.parts
    acts = {
        "runs.nothing_yet": lambda: export_run(Run("id", "name", tiny())), "export.secret": lambda: export_run(riddle),
        "export.generated": lambda: pack_zip(export_run(reverse), lambda: None, sentences=True),
    }  # fmt: skip
    for key, act in acts.items():
        with refused(key):
            act()
    first, other = (b"".join(pack_zip(export_run(reverse), lambda: None)) for _ in range(2))
    assert first == other
    files = opened([first])
    assert list(files) == sorted(NAMES, key=str.casefold)
    assert json.loads(files["config.json"]) == reverse.experiment.flat() | {"src_vocab": 30, "tgt_vocab": 30, "longest_target": 0}
    rows = list(csv.DictReader(io.StringIO(files["history.csv"].decode())))
    assert [float(row["loss"]) for row in rows] == reverse.history.steps.column("loss")
    assert [float(row["exact_match"]) for row in rows if row["exact_match"]] == reverse.history.validations.column("exact_match")


def test_use_translates_and_reads_every_tokenizer_as_the_page_does_and_needs_no_more_than_it_says(reverse, tmp_path):
    write_files(reverse, tmp_path)
    translator = Translator(tmp_path)
    assert translator.translate("hello") == "olleh"
    output, columns, rows = translator.look("hello")
    assert (columns, rows) == ([*"hello", "<eos>"], [*"olleh", "<eos>"])
    assert svg(output.cross, rows, columns).count("<rect") == 1 + 2 * 4 * 6 * 6
    assert np.allclose([weights.sum(dim=-1) for weights in output.cross], 1)
    run, training = alone(tiny(share_embeddings="all"))
    (tmp_path / "shared").mkdir()
    write_files(run, tmp_path / "shared")
    src, tgt = torch.tensor([[4, 5, 2]]), torch.tensor([[1, 4]])
    with torch.inference_mode():
        assert torch.equal(Translator(tmp_path / "shared").model(src, tgt).logits, training.model.eval()(src, tgt).logits)
    (tmp_path / "config.json").write_text(json.dumps(export_run(reverse).config() | {"beam": [50, 4, 1.0, 2.0]}))
    theirs, noise, texts = Translator(tmp_path), torch.Generator().manual_seed(1), ("hello", "attention", "a")
    ours = replace(load(tmp_path), model=theirs.model)
    for parameter in theirs.model.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=noise)
    assert [theirs.translate(text) for text in texts] == ours.translate(texts) != ours.translate(texts, beam=1)
    roots = {line.split()[1].partition(".")[0] for line in use_file().splitlines() if line.startswith(("import ", "from "))}
    assert roots - set(sys.stdlib_module_names) == {"torch", "safetensors", "model"}
    for kind in ("characters", "words", "bpe", "unigram", "wordpiece"):
        chosen = {} if kind == "wordpiece" else {"tokenizer": kind}
        corpus = CORPORA.get(Experiment().with_(task="german_english", train_size=300, validation_size=10, vocab_size=120, **chosen))
        ours = WordPieceTokenizer(["klein", "##er", "ein", "x", "#"]) if kind == "wordpiece" else corpus.src_tokenizer
        (tmp_path / "src_tokenizer.json").write_bytes(ours.to_bytes())
        theirs = Tokenizer(tmp_path / "src_tokenizer.json")
        for text in (*(item.src for item in corpus.heldout), *TEXTS):
            ids = ours.encode(text)
            assert theirs.encode(text) == ids
            assert [theirs.decode(ids), theirs.decode([UNK, *ids])] == [ours.decode(ids), ours.decode([UNK, *ids])]
            assert theirs.labels(ids) == [ours.piece(token) for token in ids]


def write_files(run: Run, folder: Path) -> None:
    for name, data in opened(pack_zip(export_run(run), lambda: None)).items():
        (folder / name).write_bytes(data)


def executed(source: str) -> types.ModuleType:
    module = types.ModuleType("model_of_a_run")
    sys.modules[module.__name__] = module  # dataclasses look there
    exec(compile(source, "model.py", "exec"), module.__dict__)
    return module


def drawn(parameters):
    """Every parameter with numbers of its own, positive so that a variance is one."""
    generator = torch.Generator().manual_seed(1)
    return {name: torch.rand(p.shape, generator=generator) for name, p in parameters}


@pytest.mark.parametrize("knobs", [*GATE, *(pytest.param(variant, marks=pytest.mark.night) for variant in NIGHT)], ids=str)
def test_the_logits_are_the_same_to_the_bit(knobs):
    ours = build(ModelConfig(**SMALL, **knobs), 9, 9).eval()
    source = model_file(ModelConfig(**SMALL, **knobs))
    assert not re.search(r"^\s*(from|import) playground", source, re.MULTILINE)
    alone = executed(source)
    theirs = alone.build(alone.ModelConfig(**SMALL, **knobs), 9, 9).eval()
    values = drawn(ours.named_parameters())
    src, tgt_in = torch.tensor([[4, 5, 6, 2], [7, 2, 0, 0]]), torch.tensor([[1, 4, 5], [1, 8, 0]])
    for model in (ours, theirs):
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(values[name])
        model.generator.manual_seed(3)
    with torch.inference_mode():
        for output, other in zip(ours(src, tgt_in), theirs(src, tgt_in), strict=True):
            pairs = zip(output, other, strict=True) if isinstance(output, tuple) else [(output, other)]
            assert all(ours is theirs or torch.equal(ours, theirs) for ours, theirs in pairs)  # a GRU has no weights: None


def test_a_file_that_would_not_run_is_an_error():
    with pytest.raises(ValueError, match=r"playground\.config is neither here nor elsewhere"):
        join("About.", [Piece("playground.model.masks")])
    with pytest.raises(ValueError, match="PAD"):  # two definitions of one name
        join("About.", [Piece("playground.config", ("PAD",)), Part("", (), "PAD = 1")])
