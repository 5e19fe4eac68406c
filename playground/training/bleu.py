"""Scores of outputs by sacrebleu, and whether a beam outputs better sentences than greedy decoding does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

from playground.config import BEAM_WIDTH, LENGTH_PENALTY, Refusal
from playground.data.corpus import Corpus, natural_unit
from playground.decoding import best, limit_output
from playground.model.transformer import Transformer
from playground.reading.text import normalise

WORDS = 4  # words of a mean reference from which BLEU is the main score; below, exact match is
CHINESE = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")
MIN_COMPARED, MAX_COMPARED = 50, 200  # sentences on which a beam and greedy decoding are compared; fewer say too little
OPERATIONS = 2e11  # of that comparison at most: some seconds of a core, as sentences are decoded side by side


class Measured(NamedTuple):
    """Corpus-level scores by sacrebleu, 0 to 100, with the signatures to compute them again.

    `bleu_reach` and `chrf_reach`: half of the bootstrap's 95 % interval; None without a bootstrap.
    """

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str
    too_short: bool  # no output has four units in a row, so BLEU, which counts up to four, is 0 whatever the output
    length_ratio: float  # all outputs over their nearest references, in the units of BLEU
    bleu_reach: float | None = None
    chrf_reach: float | None = None


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]], tokenize: str, resamples: int = 1) -> Measured:
    """Returns BLEU and chrF of outputs, each with all its right answers. `tokenize` is sacrebleu's: "13a", "zh", "char", …; with more than
    one of `resamples` its bootstrap gives confidence intervals (Koehn 2004).

    Raises ValueError when there are no outputs, or one of them has no reference; Refusal without sacrebleu.
    """
    try:
        from sacrebleu.metrics import BLEU, CHRF  # a slow import, kept out of the page's start
    except ImportError:
        raise Refusal("export.no_package", package="sacrebleu") from None

    if not outputs or len(outputs) != len(references) or not all(references):
        raise ValueError("sacrebleu needs at least one output, and a reference for each")
    streams = list(zip_longest(*references))  # all first references, all second ones, …; None where a sentence has fewer
    make_bleu = partial(BLEU, tokenize=tokenize, force=True)  # force: no warning about tokenized input
    bleu_score, signature, reach = _score_corpus(make_bleu, outputs, streams, resamples)
    chrf_score, chrf_signature, chrf_reach = _score_corpus(CHRF, outputs, streams, resamples)
    _clear_cache(make_bleu().tokenizer)
    scores, ratio = (float(bleu_score.score), float(chrf_score.score)), bleu_score.sys_len / max(bleu_score.ref_len, 1)
    return Measured(*scores, signature, chrf_signature, bleu_score.totals[-1] == 0, ratio, reach, chrf_reach)


def _score_corpus(make: Callable[[], Any], outputs: Sequence[str], streams: list, resamples: int) -> tuple[Any, str, float | None]:
    """Returns (score, signature, half of the interval) of a metric of sacrebleu."""
    metric = make()
    try:
        score = metric.corpus_score(outputs, streams, n_bootstrap=resamples)
    except TypeError:  # sacrebleu can't average resamples of which some share nothing with the references: too little for a bootstrap
        metric, resamples = make(), 1
        score = metric.corpus_score(outputs, streams)
    return score, str(metric.get_signature()), float(score._ci) if resamples > 1 else None


def _clear_cache(tokenizer: Any) -> None:
    """Clears sacrebleu's cache of the last 65,536 sentences, as they may be another user's."""
    for part in (tokenizer, *vars(tokenizer).values()):
        if hasattr(type(part).__call__, "cache_clear"):
            type(part).__call__.cache_clear()


def tokenization(references: Sequence[str], unit: str | None = None) -> str:
    """Chooses BLEU's tokenizer: "zh" for Chinese; "char" for text without spaces or a task of characters; else sacrebleu's usual "13a",
    words and punctuation."""
    text = "".join("".join(references).split())
    if len(CHINESE.findall(text)) * 2 > len(text):
        return "zh"
    return "char" if (unit or natural_unit(references)) == "characters" else "13a"


@dataclass(frozen=True)
class Score:
    """Scores of all outputs against the references as their files have them, like the `sacrebleu` program."""

    measured: Measured
    tokenize: str
    exact_match: float  # the share of outputs equal to one of their references but for white space and hidden characters
    ter: float  # edits and shifts of words for 100 words of the references: less is better
    ter_signature: str
    ter_reach: float | None


def score_outputs(outputs: Sequence[str], references: Sequence[Sequence[str]], tokenize: str | None = None, resamples: int = 1) -> Score:
    """Scores outputs, each with its references; `tokenize` None: chosen by the references' script. Raises ValueError when there is nothing
    to score."""
    tokenize = tokenize or tokenization([reference for several in references for reference in several])
    measured = measure(outputs, references, tokenize, resamples)
    from sacrebleu.metrics import TER  # here, as in `measure`

    make_ter = partial(TER, normalized=tokenize == "zh", asian_support=tokenize == "zh")
    ter, signature, reach = _score_corpus(make_ter, outputs, list(zip_longest(*references)), resamples)
    same = sum(output in map(normalise, several) for output, several in zip(outputs, references, strict=True))
    return Score(measured, tokenize, same / len(outputs), float(ter.score), signature, reach)


def is_of_words(references: Sequence[Sequence[str]], tokenize: str) -> bool:
    """Returns whether sentences have several words, so many right translations, of which BLEU tells more than exact match. A Chinese
    character counts as a word."""
    words = sum(len(first.split()) + len(CHINESE.findall(first)) for first, *_ in references)
    return tokenize != "char" and words >= WORDS * len(references)


# ---- greedy decoding or a beam? ----

# Length penalties 0.6, 1.0 and 1.6: BLEU of beams of 4 on 1,000 new sentences. German-English by words 34.3, 34.9, 35.5, by BPE 37.5, 37.8
# (1.6 not tried); Chinese-English by words 21.6, 21.6, 20.8, by BPE 26.7, 26.7, 26.5. Below 1.0 it is no better, and outputs are shorter.


class BeamGain(NamedTuple):
    """BLEU on the same held-out `sentences`: of greedy decoding, and of a beam of `width` with LENGTH_PENALTY."""

    sentences: int
    width: int
    greedy: float
    beam: float

    @property
    def best_width(self) -> int:
        """The beam width that scored higher; 1 is greedy decoding."""
        return self.width if self.beam > self.greedy else 1

    @classmethod
    def read(cls, value: Any) -> BeamGain | None:
        """Reads the list of a file; None for none. Raises Refusal for anything else."""
        if value is None:
            return None
        if isinstance(value, list) and len(value) == 4 and {*map(type, value)} <= {int, float} and 1 <= value[1] <= 10:
            return cls(int(value[0]), int(value[1]), *map(float, value[2:]))
        raise Refusal("runs.not_a_run", what="beam")


def compare_beam(model: Transformer, corpus: Corpus) -> BeamGain | None:
    """Decodes held-out sentences greedily and by a beam, with a model in eval mode. None where that says too little: short or
    few sentences, a model without a key-value cache or of so many parameters that it takes too long, or no sacrebleu."""
    items = corpus.heldout[:: max(1, len(corpus.heldout) // MAX_COMPARED)][:MAX_COMPARED]
    if not model.cacheable or len(items) < MIN_COMPARED:
        return None
    references = [corpus.references[item.src] for item in items]
    tokenize = tokenization([text for texts in references for text in texts])
    tokens = sum(len(item.src_ids) + BEAM_WIDTH * len(item.tgt_ids) for item in items) / len(items)
    size = int(OPERATIONS / (2 * tokens * sum(parameter.numel() for parameter in model.parameters())))
    if size < MIN_COMPARED or not is_of_words(references, tokenize):
        return None
    sources, references = [item.src_ids for item in items[:size]], references[:size]
    limits = [limit_output(corpus.longest_target, len(ids)) for ids in sources]
    try:
        outputs = (map(corpus.tgt_tokenizer.decode, best(model, sources, limits, *how)) for how in ((1,), (BEAM_WIDTH, LENGTH_PENALTY)))
        greedy, beam = (measure([*texts], references, tokenize).bleu for texts in outputs)
    except Refusal:
        return None
    return BeamGain(len(sources), BEAM_WIDTH, round(greedy, 1), round(beam, 1))
