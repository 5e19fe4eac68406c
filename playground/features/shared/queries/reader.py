"""The entry point to a run's models: everything inside any sentence at any kept step, while training goes on."""

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from playground.config import BOS, EOS, MAX_POSITIONS, SPECIAL_TOKENS, UNK, Refusal
from playground.data.corpus import SPLITS
from playground.data.corpus_check import Statistics
from playground.decoding import Hypothesis, Pass, Trace, greedy, limit_output, trace
from playground.features.shared.queries import results
from playground.features.shared.queries.results import Likely, Piece, SentenceTrace, likely_of, pieces_from, pieces_of
from playground.model.transformer import Transformer
from playground.reading.text import normalise
from playground.runs.corpora import ModelCache
from playground.runs.history import tokens_correct
from playground.runs.memory import LRU
from playground.runs.queue.parallel import ReaderThreads
from playground.runs.registry import Runs
from playground.runs.replay import TOP_TOKENS, Completion
from playground.runs.run import Run

__all__ = ["Likely", "Piece", "Reader", "SentenceTrace"]

REFERENCE = "reference"  # as a target: the decoder is fed the right answer, the same at every step of a run
REMEMBERED, REMEMBERED_BYTES = 4096, 32_000_000  # answers
STEPS, STEPS_BYTES = 8, 400_000_000  # training steps taken apart; one of a wide model may take 370 MB, and every click reads it again
CHARACTERS = 5_000  # of one sentence; a longer one has too many tokens for any model
TIMEOUT_S = 60.0  # of a request


class Greedy(NamedTuple):
    """A sentence's greedy output and the passes of its decoding."""

    output: Hypothesis
    passes: list[Pass]


class Reader:
    """A thread-safe reader of runs; works on its own few threads, which bounds the cores that requests take."""

    def __init__(self, runs: Runs, threads: int = 2) -> None:
        self._runs, self._models = runs, ModelCache()
        self._threads = ReaderThreads(threads)
        self._known = LRU(REMEMBERED, REMEMBERED_BYTES)
        self._steps = LRU(STEPS, STEPS_BYTES)

    @property
    def caches(self) -> dict[str, tuple[LRU, ...]]:
        """Returns the caches by the names of their memory shares, see runs/memory.py."""
        return {"models": self._models.caches, "answers": (self._known,), "steps": (self._steps,)}

    @property
    def seconds(self) -> float:
        """Returns the calling thread's processor time so far, the reader's work for it included."""
        return self._threads.seconds

    def one_answer(self, patience: float = 0.0) -> AbstractContextManager[None]:
        """Groups the calling thread's requests into one answer, see `ReaderThreads.shared_deadline`."""
        return self._threads.shared_deadline(patience)

    @property
    def lost(self) -> int:
        """Counts the threads that timed out and were replaced."""
        return self._threads.lost

    def look(
        self, run: Run, step: int | None, text: str, target: str | None = None, known: SentenceTrace | None = None
    ) -> SentenceTrace:  # fmt: skip
        """Traces `text` through the model. `target` None feeds its own greedy output; REFERENCE the right answer or, where none is known,
        the output of the newest parameters, so that the rows are the same at every step; else this text. A `known` trace of this step
        is returned if its output is the target.

        Raises Refusal for text that is empty or too long.
        """
        text, ids = self.read(run, text)
        right = results.references(run, text)
        forced = self.forced_ids(run, text, target)
        if known and tuple(piece.id for piece in known.targets) == forced:
            return known
        recorded = self._recorded(run, step, text)
        if recorded and forced in (None, recorded.ids):
            return self.build_trace(run, text, right, recorded.ids, *recorded_parts(recorded), step)

        def work(model: Transformer, actual: int, written: Sequence[int]) -> SentenceTrace:
            return self.build_trace(run, text, right, written, *traced_parts(trace(model, ids, written)), actual)

        if forced:
            return self.work(run, step, (text, forced, "look"), lambda model, actual: work(model, actual, forced))
        return self.work_on_greedy(run, step, text, ids, ("look",), lambda model, actual, decoded: work(model, actual, decoded.output.ids))

    def pieces(self, run: Run, text: str, side: str = "src") -> tuple[Piece, ...]:
        """Tokenizes the text with the run's tokenizer; `side` is "src" or "tgt"."""
        return pieces_of(self._tokenizers(run)[side == "tgt"], normalise(text[:CHARACTERS]))

    def examples(self, run: Run, split: str = "heldout", count: int = 20) -> list[tuple[str, str]]:
        """Returns the first (source, target) sentences of a split of the corpus."""
        return self.remember(run, (split, count), lambda: results.split(run, split, count, self._runs.corpora))

    def probes(self, run: Run) -> list[tuple[str, str]]:
        """Returns (source, target) of the replay's probes; of a run without a replay yet, those that it will have."""
        if run.replay.plan.probes:
            return list(run.replay.plan.probes)
        try:
            return [(item.src, item.tgt) for item in self._runs.corpora.get(run.experiment, run.pairs).probes]
        except Refusal:  # the run will fail with this reason
            return []

    def can_read(self, run: Run, text: str) -> bool:
        """Tests whether the run knows every token of the text and has room for it; also of a run that isn't prepared yet."""
        try:
            src = run.tokenizers[0] if run.tokenizers else self._runs.corpora.get(run.experiment, run.pairs).src_tokenizer
        except Refusal:
            return False
        ids = src.encode(normalise(text[: CHARACTERS + 1]))
        return 0 < len(ids) < MAX_POSITIONS and UNK not in ids

    def statistics(self, run: Run) -> Statistics:
        """Returns the statistics of the run's training sentences."""
        return self.remember(run, ("statistics",), lambda: self._runs.corpora.statistics(run.experiment, run.pairs))

    def sizes(self, run: Run) -> dict[str, int]:
        """Returns the number of sentences of each split, both vocabulary sizes, and the longest training sentence in tokens."""

        def count() -> dict[str, int]:
            corpus = self._runs.corpora.get(run.experiment, run.pairs)
            splits = {name: len(getattr(corpus, name)) for name in SPLITS}
            vocabularies = {"src_vocabulary": corpus.src_tokenizer.size, "tgt_vocabulary": corpus.tgt_tokenizer.size}
            return splits | vocabularies | {"longest": max(len(ids) + 1 for item in corpus.train for ids in (item.src_ids, item.tgt_ids))}

        return self.remember(run, ("sizes",), count)

    def left_out(self, run: Run) -> tuple[int, ...]:
        """Returns the lines of uploaded data that have too many tokens."""
        return self.remember(run, ("left out",), lambda: self._runs.corpora.get(run.experiment, run.pairs).left_out)

    def longest(self, run: Run) -> int:
        """Returns the length of the longest training sentence in tokens with EOS."""
        return self.sizes(run)["longest"]

    def units(self, run: Run) -> tuple[str, str]:
        """Returns the kinds of the source and target tokenizers: "characters", "words", "bpe" or "unigram"."""
        src, tgt = self._tokenizers(run)
        return src.kind, tgt.kind

    def position_table(self, run: Run, step: int | None) -> tuple[np.ndarray, int]:
        """Returns (MAX_POSITIONS, D) learned positions of the source side, and their step. Raises Refusal when there are none."""
        if run.experiment.model.encoding.added != "learned":
            raise Refusal("runs.no_positions")
        actual, parameters = run.parameters_at(step)
        return parameters["src_positions.table"].numpy(), actual

    def model_at(self, run: Run, step: int | None) -> tuple[Transformer, int]:
        """Returns (model in eval mode, its actual step): the newest snapshot when `step` is None, else the nearest kept parameters."""
        return self._models.get(run, step)[:2]

    def close(self) -> None:
        """Ends the reader's threads."""
        self._threads.close()

    def remember(self, run: Run, key: tuple, make: Callable[[], Any]) -> Any:
        """Caches `make()`, which needs no model, under `key`: all that it depends on besides the run."""
        return self._known.get_or_make((run.id, *key), make)

    def work(
        self, run: Run, step: int | None, key: tuple, work: Callable[[Transformer, int], Any],
        then: tuple[tuple, Callable[[Transformer, Any], Any]] | None = None,
    ) -> Any:  # fmt: skip
        """Runs `work(model, its step)` on one of the reader's threads, or returns its cached answer for these very parameters and `key` at
        once. Other work may have the same key.

        `then` is (another key, more work on the same model and that answer): both answers are returned. The model is shared and read-only:
        hooks belong on a copy (model/copies.py). Raises Refusal on a timeout.
        """

        def task() -> Any:
            model, actual, number, _ = self._models.get(run, step)
            first = self._known.get_or_make(_cache_key(number, work, key), lambda: work(model, actual))
            return (first, self._known.get_or_make(_cache_key(number, then[1], then[0]), lambda: then[1](model, first))) if then else first

        built = self._models.get_cached(run, step)
        known = built and self._known.get(_cache_key(built.number, work, key))
        if then and known is not None:
            more = self._known.get(_cache_key(built.number, then[1], then[0]))
            known = None if more is None else (known, more)
        if known is not None:
            return known
        keys = (_cache_key(0, work, key), then and _cache_key(0, then[1], then[0]))
        return self._ask(task, (run.id, work.__qualname__, then and then[1].__qualname__), (self._models.locate(run, step), *keys))

    def work_on_greedy(
        self, run: Run, step: int | None, text: str, ids: Sequence[int], key: tuple, work: Callable[[Transformer, int, Greedy], Any]
    ) -> Any:
        """Runs `work(model, its step, greedy output of the text)` as `work` does; all of it shares one decoding."""

        def decode(model: Transformer, actual: int) -> tuple[int, Greedy]:
            passes: list[Pass] = []
            [output] = greedy(model, [ids], limit_output(run.longest_target, len(ids)), record=passes)
            return actual, Greedy(output, passes)

        return self.work(run, step, (text,), decode, then=((text, *key), lambda model, greedy_output: work(model, *greedy_output)))[1]

    def take_apart(self, key: tuple, make: Callable[[], Any]) -> Any:
        """Runs `make()`, which takes a training step apart, on one of the reader's threads, or returns its cached answer. Raises Refusal on
        a timeout."""
        known = self._steps.get(key)
        return self._ask(lambda: self._steps.get_or_make(key, make), make.__qualname__, key) if known is None else known

    def _ask(self, task: Callable[[], Any], kind: Hashable, key: Hashable) -> Any:
        try:
            return self._threads.ask(task, TIMEOUT_S, kind, key)
        except TimeoutError as error:
            raise Refusal("runs.too_slow", seconds=f"{TIMEOUT_S:g}") from error

    def _tokenizers(self, run: Run) -> tuple:
        if run.tokenizers is None:
            raise Refusal("runs.nothing_yet")
        return run.tokenizers

    def read(self, run: Run, text: str) -> tuple[str, list[int]]:
        """Returns (the normalised text, its ids without EOS). Raises Refusal."""
        src, _ = self._tokenizers(run)
        text = normalise(text[: CHARACTERS + 1])
        ids = src.encode(text)
        if not ids:
            raise Refusal("runs.empty")
        _check_length(len(ids) + 1)
        return text, ids

    def build_trace(
        self, run: Run, text: str, possible: tuple[str, ...] | None, written: tuple[int, ...], stacks: tuple[np.ndarray, ...],
        top: tuple[np.ndarray, np.ndarray], probabilities: tuple[float, ...], step: int,
    ) -> SentenceTrace:  # fmt: skip
        """Builds the trace of `written` from the parts that `traced_parts` or `recorded_parts` return."""
        src, tgt = run.tokenizers
        targets, begin = pieces_from(tgt, written), Piece(SPECIAL_TOKENS[BOS], BOS)
        right = tokens_correct(written, map(tgt.encode, possible)) if possible is not None else None
        alignment = results.alignment(run, text, tgt.decode(written), len(written))
        source = pieces_of(src, text, end=True)
        return SentenceTrace(
            step, source, (begin, *targets[:-1]), targets, *stacks, likely_of(tgt, *top), probabilities, alignment, right, possible,
            written[-1] == EOS,
        )  # fmt: skip

    def forced_ids(self, run: Run, text: str, target: str | None) -> tuple[int, ...] | None:
        """Returns the ids to force for a `target` of `look` and a text that was read; None for the model's own output."""
        if target is None:
            return None
        if target == REFERENCE:
            right = results.references(run, text)
            if right is None:
                return tuple(piece.id for piece in self.look(run, None, text).targets)
            target = right[0]
        forced = (*run.tokenizers[1].encode(normalise(target)), EOS)
        _check_length(len(forced))
        return forced

    def _recorded(self, run: Run, step: int | None, text: str) -> Completion | None:
        """Returns the replay's recording of this very sentence at this very step, where the parameters of the step were not kept."""
        replay = run.replay
        if step is None or step in replay.parameter_steps or step not in replay.steps:
            return None
        sources = [normalise(src) for src, _ in replay.plan.probes]
        completion = replay.frame(step).completions[sources.index(text)] if text in sources else None
        return completion if completion and completion.cross is not None else None


def _cache_key(number: int, work: Callable, key: tuple) -> tuple:
    """Returns the cache key of an answer of the model with this number."""
    return number, work.__module__, work.__qualname__, key


def traced_parts(traced: Trace) -> tuple:
    """Returns (stacks, the likeliest tokens, probabilities of the written tokens) of a trace."""
    top = np.argsort(-traced.probabilities, axis=-1, kind="stable")[:, :TOP_TOKENS]
    chosen = traced.probabilities[np.arange(len(traced.tgt_ids)), list(traced.tgt_ids)]
    stacks = (traced.encoder, traced.decoder, traced.cross)
    return stacks, (top, np.take_along_axis(traced.probabilities, top, axis=-1)), tuple(chosen.tolist())


def recorded_parts(completion: Completion) -> tuple:
    """Returns the parts of `traced_parts` from a completion in the replay."""
    stacks = tuple(stack.astype(np.float32) for stack in (completion.encoder, completion.decoder, completion.cross))
    top = completion.top_ids, completion.top_probabilities.astype(np.float32)
    return stacks, top, tuple(completion.probabilities.astype(float).tolist())


def _check_length(tokens: int) -> None:
    if tokens > MAX_POSITIONS:
        raise Refusal("runs.too_long", tokens=tokens, most=MAX_POSITIONS)
