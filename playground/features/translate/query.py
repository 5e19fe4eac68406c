"""Translates a sentence by any decoding method: outputs, costs, the fate of the right answer in a beam, and words copied for <unk>."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from math import inf, isfinite

import numpy as np

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.cursor import FIELDS
from playground.data.readable import WORD_START, continuing_tokens, spell_word, unknown_tokens
from playground.data.tokenizers import Tokenizer
from playground.decoding import (
    Constraints,
    Hypothesis,
    Pass,
    Search,
    Verdict,
    classify,
    greedy,
    limit_output,
    multiplications,
    positions,
    sample,
    search,
    trace,
    without_cache,
)  # fmt: skip
from playground.decoding.constraints import FREE, find_ends
from playground.features.shared.queries import results
from playground.features.shared.queries.reader import CHARACTERS, Greedy, Reader, traced_parts
from playground.features.shared.queries.results import Candidate, Piece, SentenceTrace, pieces_from, pieces_of
from playground.model.transformer import Transformer
from playground.reading.text import normalise
from playground.runs.history import tokens_correct as judge_tokens
from playground.runs.run import Run

METHODS = ("greedy", "beam", "sample")
MAX_BEAM = FIELDS["beam"].high
MAX_REQUIRED = 10  # tokens of the words that must come: each adds a beam
TRIES, ENOUGH_MS = 3, 300  # timings, of which the shortest counts; no more begin after ENOUGH_MS


@dataclass(frozen=True)
class DecodingOptions:
    """Decoding options. `width`, `length_penalty` and the words that `must` or `must_not` come are for a beam; `temperature`, `top_k`,
    `top_p` and `seed` for sampling; the output begins with `prefix`. Without `cache` everything is recomputed for each token, and compared.
    With `copy_unknown` source words replace <unk> (`align_unknown`)."""

    method: str = "greedy"
    width: int = FIELDS["beam"].read("")
    length_penalty: float = FIELDS["penalty"].read("")
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    prefix: str = ""
    cache: bool = True
    copy_unknown: bool = False
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()


PLAIN = DecodingOptions()


@dataclass(frozen=True)
class Cost:
    """Cost of decoding with or without a cache: tokens for which the decoder computes states, multiplications, and the shortest time in
    milliseconds, None unless both are compared."""

    positions: int
    multiplications: int
    ms: float | None = None


@dataclass(frozen=True)
class Translation:
    """A sentence translated with the parameters of `step`, the kept step nearest to the requested one."""

    step: int
    source: tuple[Piece, ...]
    prefix: tuple[Piece, ...]
    candidates: tuple[Candidate, ...]  # best first
    references: tuple[str, ...] | None
    cached: Cost
    uncached: Cost
    same: bool | None  # the same tokens with and without the cache; None unless both were tried
    search: Search | None  # of a beam
    verdict: Verdict | None  # of a beam without constraints, where a right answer is known
    free: Search | None = None  # of a beam with constraints: the same without them


def translate(reader: Reader, run: Run, step: int | None, text: str, options: DecodingOptions = PLAIN) -> Translation:
    """Translates `text`; `step` None: with the newest parameters. Raises Refusal for text that is empty or too long, and for unknown
    options."""
    check_options(options)
    text, ids = reader.read(run, text)
    src, tgt = run.tokenizers
    beginning = normalise(options.prefix[:CHARACTERS])
    prefix = tuple(tgt.encode(beginning))
    if len(prefix) >= MAX_POSITIONS:
        raise Refusal("decoding.prefix_too_long", tokens=len(prefix), most=MAX_POSITIONS - 1)
    most = min(MAX_POSITIONS, len(prefix) + limit_output(run.longest_target, len(ids)))
    constraints = build_constraints(tgt, options.must, options.must_not, most, beginning)

    def work(model: Transformer, actual: int, decoded: Greedy | None = None) -> Translation:
        def copies(written: tuple[int, ...]) -> tuple[str | None, ...]:
            return copy_words(src, text, align_unknown(model, ids, written)) if options.copy_unknown else ()

        def cost(passes: list[Pass], ms: float | None = None) -> Cost:
            return Cost(positions(passes), multiplications(model.config, model.tgt_vocab, len(ids) + 1, passes), ms)

        write = _make_writer(model, ids, options, prefix, most, constraints)
        if decoded:
            written, beam, same = [decoded.output], None, None
            cached, uncached = cost(decoded.passes), cost(without_cache(decoded.passes))
        elif options.cache:
            written, beam, passes = write(True, True)
            cached, uncached, same = cost(passes), cost(without_cache(passes)), None
        else:  # both by the model's own code, so that the times differ by the cache only
            (with_cache, _, passes), ms = _measure_time(lambda: write(True, False))
            cached = cost(passes, ms)
            (written, beam, passes), ms = _measure_time(lambda: write(False, False))
            uncached, same = cost(passes, ms), [each.ids for each in with_cache] == [each.ids for each in written]
        right = results.references(run, text)
        whole = [(*encoded, EOS) for answer in right or () if UNK not in (encoded := tgt.encode(answer))]
        free = search(model, ids, options.width, options.length_penalty, most, prefix) if constraints != FREE else None
        return Translation(
            actual, pieces_of(src, text), pieces_of(tgt, beginning) if prefix else (),
            tuple(_make_candidate(run, hypothesis, prefix, right, copies(hypothesis.ids)) for hypothesis in written), right,
            cached, uncached, same, beam, classify(model, ids, beam, whole) if beam and not free else None, free,
        )  # fmt: skip

    if options.method == "greedy" and options.cache and not prefix:  # as the page's line above the tab has been decoded
        return reader.work_on_greedy(run, step, text, ids, (options,), work)
    return reader.work(run, step, (text, options), work)


def check_options(options: DecodingOptions) -> None:
    """Raises Refusal for an unknown method, a number out of range, and constraints without a beam."""
    if options.method not in METHODS:
        raise Refusal("runs.no_method", name=options.method[:40])
    if (options.must or options.must_not) and options.method != "beam":
        raise Refusal("decoding.constraints_need_beam")
    numbers = (1 <= options.width <= MAX_BEAM, isfinite(options.length_penalty), 0 < options.temperature < inf, options.top_k >= 0,
               0 < options.top_p <= 1)  # fmt: skip
    if not all(numbers):
        raise Refusal("decoding.no_way", widest=MAX_BEAM)


def build_constraints(tokenizer: Tokenizer, must: Sequence[str], must_not: Sequence[str], most: int, prefix: str = "") -> Constraints:
    """Builds the constraints of an output of at most `most` tokens that begins with `prefix`. Raises Refusal for a word that is empty or
    unknown, for a contradiction, and for words of more tokens than fit."""
    for word in (*must, *must_not):
        if not normalise(word):
            raise Refusal("decoding.constraint_empty")
        if UNK in tokenizer.encode(word):
            raise Refusal("decoding.constraint_unknown", word=word[:40], unknown=unknown_tokens(tokenizer, word))
    required = {word: spell_word(tokenizer, word)[0] for word in must}
    forbidden = {word: spell_word(tokenizer, word) for word in must_not}
    begun = tuple(tokenizer.encode(prefix))
    constraints = Constraints(tuple(dict.fromkeys(required.values())), tuple(chain(*forbidden.values())), continuing_tokens(tokenizer))
    if constraints.tokens > (room := min(most - len(begun) - 1, MAX_REQUIRED)):
        raise Refusal("decoding.constraints_too_long", tokens=constraints.tokens, most=room)
    for word, (other, ids) in product(forbidden, (*required.items(), (prefix, begun))):
        if any(find_ends(ids, spelling) for spelling in forbidden[word]):
            raise Refusal("decoding.constraints_contradict", word=word[:40], other=other[:40])
    return constraints if must or must_not else FREE


def count_samples(
    reader: Reader, run: Run, step: int | None, text: str, options: DecodingOptions, count: int
) -> list[tuple[str, int, bool | None]]:
    """Samples `count` outputs with this seed and the next ones; returns (output, count, whether it is right), the commonest first."""
    times: dict[str, int] = {}
    correct: dict[str, bool | None] = {}
    for seed in range(options.seed, options.seed + count):
        drawn = translate(reader, run, step, text, replace(options, seed=seed, cache=True)).candidates[0]
        times[drawn.text] = times.get(drawn.text, 0) + 1
        correct[drawn.text] = drawn.correct
    return [(output, times[output], correct[output]) for output in sorted(times, key=lambda output: -times[output])]


def find_least_certain(reader: Reader, run: Run, sentences: Sequence[tuple[str, str]]) -> str:
    """Returns the (source, target) sentence whose output has the token of least probability; empty without sentences."""
    texts = [text for text, _ in sentences if reader.can_read(run, text)]
    sources = [reader.read(run, text)[1] for text in texts]

    def work(model: Transformer, _: int) -> str:
        written = greedy(model, sources, limit_output(run.longest_target, max(map(len, sources), default=0)))
        return texts[min(range(len(texts)), key=lambda at: min(written[at].logprobs))] if texts else ""

    return reader.work(run, None, (tuple(texts), "doubt"), work)


def trace_output(reader: Reader, run: Run, step: int | None, text: str, written: tuple[int, ...]) -> SentenceTrace:
    """Traces the model while these very tokens are forced for `text`."""
    text, ids = reader.read(run, text)
    right = results.references(run, text)

    def work(model: Transformer, actual: int) -> SentenceTrace:
        return reader.build_trace(run, text, right, written, *traced_parts(trace(model, ids, written)), actual)

    return reader.work(run, step, (text, written, "written"), work)


def _make_writer(
    model: Transformer, ids: list[int], options: DecodingOptions, prefix: tuple[int, ...], most: int, constraints: Constraints
) -> Callable[[bool, bool], tuple[list[Hypothesis], Search | None, list[Pass]]]:  # fmt: skip
    """Returns a function of `cache` and `fast` that decodes the sentence once: hypotheses, best first, the beam search if it is one, and
    the passes."""

    def write(cache: bool, fast: bool) -> tuple[list[Hypothesis], Search | None, list[Pass]]:
        passes: list[Pass] = []
        if options.method == "beam":
            beam = search(model, ids, options.width, options.length_penalty, most, prefix, cache, passes, fast, constraints)
            return list(beam.hypotheses), beam, passes
        if options.method == "sample":
            drawn = sample(model, ids, options.temperature, most, options.seed, prefix, options.top_k, options.top_p, cache, passes, fast)
            return [drawn], None, passes
        return greedy(model, [ids], most, prefix, cache, passes, fast), None, passes

    return write


def _measure_time(work: Callable) -> tuple:
    """Returns (the answer of `work`, its shortest time in milliseconds)."""
    times: list[float] = []
    while len(times) < TRIES and sum(times) < ENOUGH_MS:
        begin = time.perf_counter()
        answer = work()
        times.append(1000 * (time.perf_counter() - begin))
    return answer, min(times)


def _make_candidate(
    run: Run, hypothesis: Hypothesis, prefix: tuple[int, ...], references: tuple[str, ...] | None, words: tuple[str | None, ...]
) -> Candidate:  # fmt: skip
    """Converts a hypothesis for display. It is compared with the right answers that begin with `prefix`; without one it is neither right
    nor wrong."""
    tokenizer, probabilities = run.tokenizers[1], tuple(np.exp(hypothesis.logprobs).tolist())
    possible = [ids for ids in map(tokenizer.encode, references or ()) if tuple(ids[: len(prefix)]) == prefix]
    right = judge_tokens(hypothesis.ids, possible) if possible else None
    return Candidate(
        tokenizer.decode(hypothesis.ids, words), pieces_from(tokenizer, hypothesis.ids), probabilities, hypothesis.score,
        hypothesis.finished, right, hypothesis.finished and all(right) if right else None, words,
    )  # fmt: skip


def align_unknown(model: Transformer, source: Sequence[int], written: Sequence[int]) -> tuple[int | None, ...]:
    """Returns for each written UNK the place of the source token to copy; None for all other tokens, and where no head attends."""
    if UNK not in written or not source:
        return (None,) * len(written)
    cross = trace(model, source, written).cross  # (L, H, T, S)
    if not cross.size:
        return (None,) * len(written)
    strongest = cross[-1].mean(axis=0)[:, : len(source)].argmax(axis=-1).tolist()  # EOS is no word
    return tuple(place if token == UNK else None for token, place in zip(written, strongest, strict=True))


def copy_words(tokenizer: Tokenizer, text: str, places: Sequence[int | None]) -> tuple[str | None, ...]:
    """Returns the source tokenizer's words of the text at these places."""
    pieces = tokenizer.pieces(text)
    return tuple(None if place is None else pieces[place][0].strip(WORD_START) or None for place in places)
