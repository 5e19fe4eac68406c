"""An output has room for every right answer: else a sentence that the curve counts as right could never be written."""

import json

import pytest
from hypothesis import given, settings, strategies as st

from playground import load
from playground.cli import main
from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.features.evaluation.query import scores
from playground.features.shared.queries.activations import activations
from playground.features.shared.queries.reader import max_output_tokens
from playground.features.teacher_forcing.query import compare
from playground.features.translate.query import translate
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.runs.corpora import Corpora
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import write_run
from playground.runs.queue import train_inline
from playground.tasks.toy_tasks import TASKS

LONG = " ".join(f"w{place}" for place in range(30))  # the answer to everything: fifteen times as long as what is asked
PAIRS = Pairs(tuple(Pair(f"ask {n}", LONG, n + 1) for n in range(40)), {}, 40, "tsv", ("own.tsv",))
KNOBS = {"task": "own", "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "steps": 40, "batch_size": 16, "threads": 1}


@pytest.mark.night
@settings(max_examples=4)
@given(st.sampled_from(list(TASKS)), st.sampled_from(("auto", "characters")))
def test_every_task_can_write_its_answers(task, tokenizer):
    corpus = build_corpus(Experiment().with_(task=task, tokenizer=tokenizer, train_size=300, validation_size=100).data)
    room = [max_output_tokens(corpus.longest_target, len(item.src_ids)) - len(item.tgt_ids) for item in (*corpus.heldout, *corpus.harder)]
    assert min(room) > 0  # one is the end's


def test_what_the_curve_calls_right_is_written_everywhere(reader, tmp_path, capsys):
    """By a run that learnt long answers to short questions."""
    trained, corpora, folder = train_inline.new_run(Experiment().with_(**KNOBS), PAIRS), Corpora(), tmp_path / "long"
    for _ in train_inline.train(trained, corpora):
        pass
    write_run(folder, trained, train_inline.contents(trained))
    run = Folder(folder).run
    source = corpora.get(run.experiment, run.pairs).heldout[0].src
    result = scores(reader, corpora, run, None, "heldout")
    assert (trained.exact_match, result.wrong, result.unfinished, result.measured.bleu) == (1, 0, 0, pytest.approx(100))
    assert translate(reader, run, None, source).candidates[0].correct
    assert all(reader.look(run, None, source).right)
    assert compare(reader, run, None, source).parted is None
    assert len(activations(reader, run, None, source)[0].targets) == 31
    assert load(folder).translate(source) == LONG
    assert main(["translate", str(folder), source, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"][0]["text"] == LONG
