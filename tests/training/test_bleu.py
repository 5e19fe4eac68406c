"""How to decode by default is measured at the end of training: by sacrebleu, on held-out sentences."""

from dataclasses import replace
from itertools import islice

import pytest
import sacrebleu

import playground
from playground.cli import main
from playground.config import BEAM_WIDTH, LENGTH_PENALTY
from playground.decoding import best, limit_output
from playground.reading.filtering import Pair
from playground.runs.disk.store import write_run
from playground.runs.queue.train_inline import contents, new_run, train
from playground.tasks.toy_tasks import draw_examples
from playground.training import bleu
from playground.training.bleu import BeamGain, compare_beam
from playground.training.loop import Training
from tests.runs.tiny import CORPORA, PAIRS, tiny


@pytest.fixture(scope="module")
def run():
    drawn = islice(draw_examples("german_english", "train", 1), 600)
    pairs = replace(PAIRS, pairs=tuple(Pair(example.src, example.tgt, line) for line, example in enumerate(drawn, 1)))
    run = new_run(tiny(task="own", d_model=32, n_heads=4, d_ff=64, steps=60, batch_size=32, validation_size=80, dropout=0.0), pairs)
    assert [*train(run, CORPORA)][-1] == 60
    return run


def test_a_beam_and_greedy_decoding_are_compared_on_the_same_sentences(run, monkeypatch):
    corpus, scores = CORPORA.get(run.experiment, run.pairs), []
    training, items = Training(run.experiment, corpus), corpus.heldout
    training.load_parameters(run.snapshot.parameters)
    limits = [limit_output(corpus.longest_target, len(item.src_ids)) for item in items]
    references = [corpus.references[item.src][0] for item in items]
    for how in ((1,), (BEAM_WIDTH, LENGTH_PENALTY)):
        outputs = best(training.model.eval(), [item.src_ids for item in items], limits, *how)
        scores.append(round(sacrebleu.corpus_bleu([*map(corpus.tgt_tokenizer.decode, outputs)], [references]).score, 1))
    assert run.history.beam == BeamGain(len(items), 4, *scores)
    assert 0 < scores[0] != scores[1]
    assert compare_beam(training.model, replace(corpus, heldout=items[:49])) is None
    for limit, value in (("OPERATIONS", 1.0), ("WORDS", 99)):
        with monkeypatch.context() as patch:
            patch.setattr(bleu, limit, value)
            assert compare_beam(training.model, corpus) is None
    assert Training(tiny(), CORPORA.get(tiny())).compare_beam() is None


def test_what_scored_higher_is_the_default_of_the_command_and_of_the_package(run, tmp_path, capsys):
    texts, outputs = [item.src for item in CORPORA.get(run.experiment, run.pairs).heldout[:40]], []
    for gain, width in ((BeamGain(80, 4, 1.0, 2.0), "4"), (BeamGain(80, 4, 2.0, 2.0), "1")):
        run.history.beam = gain
        write_run(tmp_path / "run", run, contents(run))
        for options in ((), ("--beam", width)):
            assert main(["translate", str(tmp_path / "run"), *texts, *options]) == 0
            outputs.append(capsys.readouterr().out.splitlines())
        outputs.append(playground.load(tmp_path / "run").translate(texts))
    assert (outputs[:3], outputs[3:]) == ([outputs[0]] * 3, [outputs[3]] * 3)
    assert outputs[0] != outputs[3]
