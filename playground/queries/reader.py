"""Looking into a run: everything inside any sentence at any kept step, while training goes on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from playground.config import BOS, EOS, MAX_POSITIONS, SPECIAL_TOKENS, UNK, Refusal
from playground.data.corpus import SPLITS
from playground.data.statistics import Statistics
from playground.decoding import Trace, greedy, trace
from playground.model.transformer import Transformer
from playground.queries import references
from playground.queries.results import Likely, Piece, SentenceTrace, likely_of, pieces_from, pieces_of
from playground.reading.text import normalise
from playground.runs.lru import LRU
from playground.runs.model_cache import ModelCache
from playground.runs.queue.parallel import ReaderThreads
from playground.runs.registry import Runs
from playground.runs.replay import TOP_TOKENS, Completion
from playground.runs.run import Run
from playground.runs.tokens import tokens_correct

__all__ = ["Likely", "Piece", "Reader", "SentenceTrace"]

REFERENCE = "reference"  # as a target: the decoder is fed the right answer, the same at every step of a run
REMEMBERED, REMEMBERED_BYTES = 4096, 32_000_000  # answers
STEPS, STEPS_BYTES = 8, 400_000_000  # training steps that were taken apart; of a wide model one may take 370 MB, and every click asks again
CHARACTERS = 5_000  # of one sentence; what is longer has too many tokens for any model
TIMEOUT_S = 60.0  # seconds that somebody waits for an answer
EXTRA_TOKENS, EXTRA = 16, 1.25  # an output may have so many tokens beyond twice its source, or be so many times the longest known target


class Reader:
    """Called from the web server's threads; works on its own few threads, so that a look never takes more cores than that."""

    def __init__(self, runs: Runs, threads: int = 2) -> None:
        self._runs, self._models = runs, ModelCache()
        self._threads = ReaderThreads(threads)
        self._known = LRU(REMEMBERED, REMEMBERED_BYTES)
        self._steps = LRU(STEPS, STEPS_BYTES)

    @property
    def caches(self) -> dict[str, tuple[LRU, ...]]:
        """Shares of the memory by their names, see runs/memory.py."""
        return {"models": self._models.caches, "answers": (self._known,), "steps": (self._steps,)}

    @property
    def seconds(self) -> float:
        """Processor time that the thread which calls has taken so far, here as well."""
        return self._threads.seconds

    def one_answer(self, patience: float = 0.0) -> AbstractContextManager[None]:
        """Of the thread that calls, see `ReaderThreads.shared_deadline`."""
        return self._threads.shared_deadline(patience)

    @property
    def lost(self) -> int:
        """Threads that have not come to an end in time, and whose place others have."""
        return self._threads.lost

    def look(self, run: Run, step: int | None, text: str, target: str | None = None) -> SentenceTrace:
        """What the model does with `text`: `target` None follows its own greedy output; REFERENCE the right answer or, where nobody knows
        it, the output of the newest parameters, so that the rows are the same at every step; else that text.

        Raises Refusal for text that is empty or too long.
        """
        text, ids = self.read(run, text)
        right = references.references(run, text)
        fed = self.fed(run, text, target)
        pictured = self._pictured(run, step, text)
        if pictured and fed in (None, pictured.ids):
            return self.inside(run, text, right, pictured.ids, *pictured_parts(pictured), step)

        def work(model: Transformer, actual: int) -> SentenceTrace:
            written = fed or greedy(model, [ids], most_written(run.longest_target, len(ids)))[0].ids
            return self.inside(run, text, right, written, *traced_parts(trace(model, ids, written)), actual)

        return self.work(run, step, (text, fed, "look"), work)

    def pieces(self, run: Run, text: str, side: str = "src") -> tuple[Piece, ...]:
        """The text as the run's tokenizer cuts it; `side` is "src" or "tgt"."""
        return pieces_of(self._tokenizers(run)[side == "tgt"], normalise(text[:CHARACTERS]))

    def examples(self, run: Run, split: str = "heldout", count: int = 20) -> list[tuple[str, str]]:
        """(source, target) sentences of a split of the corpus."""
        return self.remember(run, (split, count), lambda: references.split(run, split, count, self._runs.corpora))

    def probes(self, run: Run) -> list[tuple[str, str]]:
        """(source, target) of the replay's probes; of a run that has no replay yet, those that it will have."""
        if run.replay.plan.probes:
            return list(run.replay.plan.probes)
        try:
            return [(item.src, item.tgt) for item in self._runs.corpora.get(run.experiment, run.pairs).probes]
        except Refusal:  # it will fail, and say why
            return []

    def can_read(self, run: Run, text: str) -> bool:
        """Whether the run knows every token of the text and has room for it; also of a run that isn't prepared yet."""
        try:
            src = run.tokenizers[0] if run.tokenizers else self._runs.corpora.get(run.experiment, run.pairs).src_tokenizer
        except Refusal:
            return False
        ids = src.encode(normalise(text[: CHARACTERS + 1]))
        return 0 < len(ids) < MAX_POSITIONS and UNK not in ids

    def statistics(self, run: Run) -> Statistics:
        """Of the sentences the run learns from."""
        return self.remember(run, ("statistics",), lambda: self._runs.corpora.statistics(run.experiment, run.pairs))

    def sizes(self, run: Run) -> dict[str, int]:
        """How many sentences each split of the corpus has, both vocabularies, and the longest sentence in tokens."""

        def count() -> dict[str, int]:
            corpus = self._runs.corpora.get(run.experiment, run.pairs)
            splits = {name: len(getattr(corpus, name)) for name in SPLITS}
            vocabularies = {"src_vocabulary": corpus.src_tokenizer.size, "tgt_vocabulary": corpus.tgt_tokenizer.size}
            return splits | vocabularies | {"longest": max(len(ids) + 1 for item in corpus.train for ids in (item.src_ids, item.tgt_ids))}

        return self.remember(run, ("sizes",), count)

    def left_out(self, run: Run) -> tuple[int, ...]:
        """The lines of own data that have too many tokens to be used."""
        return self.remember(run, ("left out",), lambda: self._runs.corpora.get(run.experiment, run.pairs).left_out)

    def longest(self, run: Run) -> int:
        """The longest sentence the run was trained on, in tokens with EOS."""
        return self.sizes(run)["longest"]

    def units(self, run: Run) -> tuple[str, str]:
        """How source and target are cut: "characters", "words", "bpe" or "unigram"."""
        src, tgt = self._tokenizers(run)
        return src.kind, tgt.kind

    def position_table(self, run: Run, step: int | None) -> tuple[np.ndarray, int]:
        """(MAX_POSITIONS, D) learnt positions of the source side, and the step they are from. Raises Refusal when there are none."""
        if run.experiment.model.encoding.added != "learned":
            raise Refusal("runs.no_positions")
        actual, parameters = run.parameters_at(step)
        return parameters["src_positions.table"].numpy(), actual

    def model_at(self, run: Run, step: int | None) -> tuple[Transformer, int]:
        """(model in eval mode, the step it is really from): the newest snapshot when `step` is None, else the nearest kept parameters."""
        return self._models.get(run, step)[:2]

    def close(self) -> None:
        """Ends its threads."""
        self._threads.close()

    def remember(self, run: Run, key: tuple, make: Callable[[], Any]) -> Any:
        """`make()`, which asks no model, unless it is known under `key`: what it depends on besides the run."""
        return self._known.get_or_make((run.id, *key), make)

    def work(
        self, run: Run, step: int | None, key: tuple, work: Callable[[Transformer, int], Any],
        then: tuple[tuple, Callable[[Transformer, Any], Any]] | None = None,
    ) -> Any:  # fmt: skip
        """`work(model, its step)` on one of the reader's threads, unless its answer for these very parameters is known under `key`: what is
        known waits for nobody. Other work may have the same key.

        `then` is (another key, more work on the same model and that answer): both answers are returned. The model is shared and only to
        be read: hooks belong on a copy (inspection/copies.py). Raises Refusal when it takes too long.
        """

        def task() -> Any:
            model, actual, number, _ = self._models.get(run, step)
            found = self._known.get_or_make(_name(number, work, key), lambda: work(model, actual))
            return (found, self._known.get_or_make(_name(number, then[1], then[0]), lambda: then[1](model, found))) if then else found

        built = None if then else self._models.get_cached(run, step)
        known = built and self._known.get(_name(built.number, work, key))
        return self._ask(task, (run.id, work.__qualname__)) if known is None else known

    def take_apart(self, key: tuple, make: Callable[[], Any]) -> Any:
        """`make()`, all of one training step, on one of the reader's threads, unless it is known under `key`. Raises Refusal when it takes
        too long."""
        known = self._steps.get(key)
        return self._ask(lambda: self._steps.get_or_make(key, make), make.__qualname__) if known is None else known

    def _ask(self, task: Callable[[], Any], kind: Hashable) -> Any:
        try:
            return self._threads.ask(task, TIMEOUT_S, kind)
        except TimeoutError as error:
            raise Refusal("runs.too_slow", seconds=f"{TIMEOUT_S:g}") from error

    def _tokenizers(self, run: Run) -> tuple:
        if run.tokenizers is None:
            raise Refusal("runs.nothing_yet")
        return run.tokenizers

    def read(self, run: Run, text: str) -> tuple[str, list[int]]:
        """(the normalised text, its ids without EOS). Raises Refusal."""
        src, _ = self._tokenizers(run)
        text = normalise(text[: CHARACTERS + 1])
        ids = src.encode(text)
        if not ids:
            raise Refusal("runs.empty")
        _check_length(len(ids) + 1)
        return text, ids

    def inside(
        self, run: Run, text: str, possible: tuple[str, ...] | None, written: tuple[int, ...], stacks: tuple[np.ndarray, ...],
        top: tuple[np.ndarray, np.ndarray], probabilities: tuple[float, ...], step: int,
    ) -> SentenceTrace:  # fmt: skip
        """A `Look` at `written`, from the parts that `traced_parts` or `pictured_parts` give."""
        src, tgt = run.tokenizers
        asked, begin = pieces_from(tgt, written), Piece(SPECIAL_TOKENS[BOS], BOS)
        right = tokens_correct(written, map(tgt.encode, possible)) if possible is not None else None
        alignment = references.alignment(run, text, tgt.decode(written), len(written))
        source = pieces_of(src, text, end=True)
        return SentenceTrace(
            step, source, (begin, *asked[:-1]), asked, *stacks, likely_of(tgt, *top), probabilities, alignment, right, possible,
            written[-1] == EOS,
        )  # fmt: skip

    def fed(self, run: Run, text: str, target: str | None) -> tuple[int, ...] | None:
        """The ids that a look's `target` means for a text that was read; None for those that the model writes."""
        if target is None:
            return None
        if target == REFERENCE:
            right = references.references(run, text)
            if right is None:
                return tuple(piece.id for piece in self.look(run, None, text).asked)
            target = right[0]
        fed = (*run.tokenizers[1].encode(normalise(target)), EOS)
        _check_length(len(fed))
        return fed

    def _pictured(self, run: Run, step: int | None, text: str) -> Completion | None:
        """The replay's picture of this very sentence at this very step, where the parameters of the step were not kept."""
        replay = run.replay
        if step is None or step in replay.parameter_steps or step not in replay.steps:
            return None
        sources = [normalise(src) for src, _ in replay.plan.probes]
        found = replay.frame(step).completions[sources.index(text)] if text in sources else None
        return found if found and found.cross is not None else None


def _name(number: int, work: Callable, key: tuple) -> tuple:
    """Of an answer of the model with this number."""
    return number, work.__module__, work.__qualname__, key


def most_written(longest_target: int, source: float) -> int:
    """The most tokens that are written, EOS included, for a source of so many without its EOS, by a model that learnt targets of up to so
    many. Short sources may have long answers (a word and its meaning), and what is cut off is never right."""
    return min(MAX_POSITIONS, max(round(2 * source) + EXTRA_TOKENS, round(EXTRA * longest_target)))


def traced_parts(found: Trace) -> tuple:
    """(stacks, the likeliest tokens, probabilities of the written ones) of a trace."""
    top = np.argsort(-found.probabilities, axis=-1, kind="stable")[:, :TOP_TOKENS]
    chosen = found.probabilities[np.arange(len(found.tgt_ids)), list(found.tgt_ids)]
    stacks = (found.encoder, found.decoder, found.cross)
    return stacks, (top, np.take_along_axis(found.probabilities, top, axis=-1)), tuple(chosen.tolist())


def pictured_parts(found: Completion) -> tuple:
    """The same of a picture in the replay."""
    stacks = tuple(stack.astype(np.float32) for stack in (found.encoder, found.decoder, found.cross))
    return stacks, (found.top_ids, found.top_probabilities.astype(np.float32)), tuple(found.probabilities.astype(float).tolist())


def _check_length(tokens: int) -> None:
    if tokens > MAX_POSITIONS:
        raise Refusal("runs.too_long", tokens=tokens, most=MAX_POSITIONS)
