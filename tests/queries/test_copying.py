"""What stands for a word that the model can't write: what its cross-attention looks at, never EOS, and the same in a file as alone."""

from types import SimpleNamespace

import numpy as np
import pytest

from playground.cli import main
from playground.config import EOS, UNK
from playground.data import tokenizers
from playground.data.tokenizers import WordTokenizer
from playground.queries import copying
from tests.test_cli import SMALL, machine  # noqa: F401

WORDS = ("the", "of", "and", "in")
TEXTS = [f"{WORDS[at % 4]} n{at} {WORDS[at // 4 % 4]}" for at in range(160)]


def test_the_place_is_the_most_looked_at_of_the_last_layer_as_a_mean_over_its_heads(monkeypatch):
    """Nothing is copied where nothing is unknown or nothing attends; a copied word is the source's own text."""
    misleading = [[[1, 0, 0, 0]] * 3] * 2  # the first layer
    first = [[0.6, 0.4, 0, 0], [0.1, 0.2, 0.3, 0.4], [0.5, 0, 0.5, 0]]
    second = [[0, 0.5, 0.5, 0], [0.1, 0.1, 0, 0.8], [0, 0, 1, 0]]
    nothing = np.zeros((0, 0, 2, 3))
    for cross, source, target, places in (
        ([misleading, [first, second]], [4, UNK, 5], [UNK, UNK, EOS], (1, 1, None)),  # of the second token EOS has .6, which is no word
        ([misleading, [first, second]], [4, UNK, 5], [UNK, 4, UNK], (1, None, 2)),
        (nothing, [4, 5], [UNK, EOS], (None, None)),
        (nothing, [4, 5], [6, EOS], (None, None)),
    ):
        monkeypatch.setattr(copying, "trace", lambda *_, cross=cross: SimpleNamespace(cross=np.array(cross, dtype=np.float32)))
        assert copying.looked_at(None, source, target) == places
    assert copying.copied(WordTokenizer(["likes"]), "Zoe likes  Ben", (2, None, 0)) == ("Ben", None, "Zoe")


@pytest.mark.night
def test_a_file_is_copied_as_its_sentences_are_and_it_is_said(tmp_path, capsys, monkeypatch):
    """There is no room for names in the vocabularies. stderr says how many were copied."""
    monkeypatch.setattr(tokenizers, "LARGEST", 8)
    monkeypatch.setattr("playground.data.warnings.spoilers", lambda *_, **__: [])  # they try subwords, which have no room
    pairs, source, folder = (tmp_path / name for name in ("pairs.tsv", "source", "run"))
    pairs.write_text("".join(f"{text}\t{text.upper()}\n" for text in TEXTS))
    source.write_text("".join(f"{text}\n" for text in TEXTS[:12]))
    how = ["--d-model", "16", "--tokenizer", "words", "--steps", "80", "--dropout", "0"]
    assert main(["train", *SMALL, *how, "--data", str(pairs), "--out", str(folder)]) == 0
    capsys.readouterr()

    def translated(*arguments) -> tuple[list[str], str]:
        assert main(["translate", str(folder), *arguments]) == 0
        out, err = capsys.readouterr()
        return out.splitlines(), err

    plain, silent = translated("--input", str(source))
    copies, reported = translated("--input", str(source), "--copy-unknown")
    unknown = sum(line.split().count("<unk>") for line in plain)
    assert unknown > 6
    for text, line, copy in zip(TEXTS, plain, copies, strict=False):
        pieces = zip(line.split(), copy.split(), strict=True)
        assert all(new in text.split() if old == "<unk>" else new == old for old, new in pieces)
    assert (silent, reported) == ("", f"{unknown} words copied from the source, where the model outputs <unk>.\n")
    assert translated(*TEXTS[:12], "--copy-unknown")[0] == copies
