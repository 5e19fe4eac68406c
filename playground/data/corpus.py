"""A corpus: the sentences of one experiment, split for training and evaluation, as text and as token ids."""

import random
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar, overload

from playground.config import UNK, DataConfig, Refusal
from playground.data.tokenizers import Tokenizer, load_tokenizer, train_tokenizer
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.tasks.toy_tasks import TASKS, Example, answers, draw_examples, references

SPLITS = ("train", "heldout", "test", "harder")
PROBES = 4
SAMPLE = 3000  # sentences of a task; in every task the last new word or character came before the 1000th


class Item(NamedTuple):
    """One pair. `alignment` has for every target token the source token it should attend to (None: no single one); None if unknown."""

    src: str
    tgt: str
    src_ids: tuple[int, ...]  # without BOS and EOS
    tgt_ids: tuple[int, ...]
    alignment: tuple[int | None, ...] | None = None


@dataclass(frozen=True)
class Corpus:
    """The splits and tokenizers of a DataConfig. The sources of the splits are disjoint (except in the task beer, whose only pair is both
    trained on and held out)."""

    name: str
    src_tokenizer: Tokenizer
    tgt_tokenizer: Tokenizer
    train: Sequence[Item]
    heldout: Sequence[Item]  # new sentences of the same kind, each source once
    harder: Sequence[Item]  # sentences of a kind never trained on, each source once; often none
    references: Mapping[str, tuple[str, ...]]  # every known right answer to each source of the three
    test: Sequence[Item] = ()  # own data: sentences that influence neither settings nor early stopping
    credit: str = ""  # attribution that the license of the sentences requires
    left_out: tuple[int, ...] = ()  # lines of own data with more than `max_tokens` tokens on a side
    longest_left_out: int = 0  # tokens of the longest of those sides
    telling: Item | None = None  # a readable held-out example of a task whose random sentences mean nothing to people

    @property
    def longest(self) -> int:
        """The longest sentence in tokens, with EOS or BOS, without the harder split; from a sample of a large training split."""
        return 1 + max(max(len(item.src_ids), len(item.tgt_ids)) for item in (*self.train[:SAMPLE], *self.heldout))

    @property
    def longest_target(self) -> int:
        """The longest target of any split in tokens, with EOS; from a sample of lazily generated splits."""
        splits = (getattr(self, name) for name in SPLITS)
        return 1 + max(len(item.tgt_ids) for split in splits for item in (split[:SAMPLE] if isinstance(split, LazySequence) else split))

    @property
    def probes(self) -> tuple[Item, ...]:
        """Four held-out items of different source lengths, from the shortest to the longest; fewer if there are fewer lengths. The last but
        one, which the page shows first, is `telling` if its length lies between its neighbours'."""
        first = {len(item.src_ids): item for item in reversed(self.heldout)}
        lengths = sorted(first)
        last, steps = len(lengths) - 1, max(1, min(PROBES, len(lengths)) - 1)
        probes = [first[lengths[place]] for place in sorted({round(last * step / steps) for step in range(steps + 1)})]
        if self.telling and len(probes) == PROBES and len(probes[-3].src_ids) < len(self.telling.src_ids) < len(probes[-1].src_ids):
            probes[-2] = self.telling
        return tuple(probes)


def build_corpus(data: DataConfig, own: Pairs | None = None, joint: bool = False) -> Corpus:
    """Builds the corpus of a task, or of `own` pairs when the task is "own". Deterministic in its arguments.

    Sentences of a task are generated lazily, so many cost nothing. Tokenizers are trained on the training split only, lists of words and
    characters on a sample of it if it is large; `joint` trains one for both sides (for shared source and target embeddings).
    Raises Refusal when own data is missing or too small, or when the tokenizer's settings don't fit the sentences.
    """
    if data.task == "own":
        return _own_corpus(data, own, joint)
    task, seed = TASKS[data.task], data.data_seed
    train = LazySequence(draw_examples(data.task, "train", seed), 1 if task.memorised else data.train_size)
    heldout, harder = (islice(draw_examples(data.task, split, seed), data.validation_size) for split in ("heldout", "harder"))
    units = (task.src_unit, task.tgt_unit)
    tokenizers = _train_tokenizers(data, train, units, joint)
    aligned = tuple(tokenizer.kind for tokenizer in tokenizers) == units
    items = (make_items(split, tokenizers, aligned) for split in (train, heldout, harder))
    splits = (LazySequence(next(items), len(train)), tuple(next(items)), LazySequence(next(items)))
    telling = next(make_items(answers(data.task, task.telling) if task.telling else (), tokenizers, aligned), None)
    return Corpus(data.task, *tokenizers, *splits, references=_Answers(data.task), telling=telling if _known(telling) else None)


def _known(item: Item | None) -> bool:
    """Returns whether the vocabularies hold all of its tokens: they are trained on a sample."""
    return item is not None and UNK not in (*item.src_ids, *item.tgt_ids)


class _Answers(dict[str, tuple[str, ...]]):
    """Every right answer to a task's sentences, computed lazily."""

    def __init__(self, task: str) -> None:
        super().__init__()
        self.task = task

    def __missing__(self, src: str) -> tuple[str, ...]:
        targets = references(self.task, src)
        if targets is None:
            raise KeyError(src)
        self[src] = targets
        return targets

    def get(self, src: str, default: Any = None) -> Any:
        try:
            return self[src]
        except KeyError:
            return default


def _own_corpus(data: DataConfig, own: Pairs | None, joint: bool) -> Corpus:
    """Builds a corpus of own pairs. `split_sources` decides the held-out and test split."""
    if own is None:
        raise Refusal("data.no_own_pairs")
    pairs = [Example(src, tgt) for src, tgt, _ in own.pairs]
    answers, split = _collect(pairs), split_sources(own, data)
    train = [pair for pair in pairs if pair.src not in split]
    units = tuple(map(natural_unit, ([pair.src for pair in train], [pair.tgt for pair in train])))
    tokenizers = load_given(own, joint) or _train_tokenizers(data, train, units, joint)

    items = list(make_items(pairs, tokenizers))
    fits = [max(len(item.src_ids), len(item.tgt_ids)) <= data.max_tokens for item in items]
    longest = max((len(ids) for item, fit in zip(items, fits, strict=True) if not fit for ids in (item.src_ids, item.tgt_ids)), default=0)
    fitting = [item for item, fit in zip(items, fits, strict=True) if fit]
    learnt = tuple(item for item in fitting if item.src not in split)
    evaluated: dict[str, dict[str, Item]] = {"heldout": {}, "test": {}}  # each source once, with its first target
    for item in fitting:
        if item.src in split:
            evaluated[split[item.src]].setdefault(item.src, item)
    heldout, test = (tuple(items.values()) for items in evaluated.values())
    if not learnt or not heldout:
        raise Refusal("data.too_long_to_learn", limit=data.max_tokens, count=fits.count(False))
    left_out = tuple(line for (_, _, line), fit in zip(own.pairs, fits, strict=True) if not fit)
    return Corpus(" + ".join(own.names), *tokenizers, learnt, heldout, (), answers, test, own.credit, left_out, longest)


def split_sources(own: Pairs, data: DataConfig) -> dict[str, str]:
    """Returns the split, "heldout" or "test", of the sources that are not trained on: the given ones, or about a tenth each of the distinct
    sources (at most `data.validation_size` and `data.test_size`), drawn by a seeded shuffle. Sources of one group stay together (the forms
    of a word, the sentences of a text). Raises Refusal when there are too few."""
    (validation, test), last = own.given, len(own.pairs) - sum(own.given)
    splits = {pair.src: "heldout" for pair in own.pairs[last : last + validation]}
    splits |= {pair.src: "test" for pair in own.pairs[last + validation :]}
    groups: dict[str, dict[str, None]] = {}
    first_groups: dict[str, str] = {}  # source -> the group in which it was first
    for pair, group in zip(own.pairs, own.groups or (pair.src for pair in own.pairs), strict=True):
        if pair.src not in splits:
            groups.setdefault(first_groups.setdefault(pair.src, group), {})[pair.src] = None
    if len(groups) + len(splits) < 2:
        raise Refusal("data.too_few_sources", count=len(groups) + len(splits))
    order, tenth = list(groups), len(first_groups) // 10
    random.Random(data.data_seed).shuffle(order)
    order = order[:-1]  # at least one is trained on
    drawn = {"heldout": 0 if validation else max(1, min(data.validation_size, tenth)), "test": 0 if test else min(data.test_size, tenth)}
    for split, most in drawn.items():
        count = 0
        while order and count < most:
            sources = groups[order.pop(0)]
            splits |= dict.fromkeys(sources, split)
            count += len(sources)
    return splits


def draw_pairs(data: DataConfig) -> Pairs:
    """Draws the sentences that a task's training reads and is validated on, as own pairs."""
    counts = {"train": data.train_size, "heldout": data.validation_size}
    splits = [list(islice(draw_examples(data.task, split, data.data_seed), count)) for split, count in counts.items()]
    pairs = tuple(Pair(example.src, example.tgt, line) for line, example in enumerate((*splits[0], *splits[1]), 1))
    return Pairs(pairs, {}, len(pairs), "tsv", (data.task,), given=(len(splits[1]), 0))


def load_given(own: Pairs | None, joint: bool = False) -> tuple[Tokenizer, Tokenizer] | None:
    """Loads the tokenizers that come with own pairs; None where they are trained on them. Raises Refusal for two where one is `joint`."""
    if own is None or not own.tokenizers:
        return None
    if joint and len(set(own.tokenizers)) > 1:
        raise Refusal("data.two_tokenizers", knob="share_embeddings")
    return _load_both(own.tokenizers)


@lru_cache(maxsize=8)
def _load_both(documents: tuple[str, str]) -> tuple[Tokenizer, Tokenizer]:
    loaded = {document: load_tokenizer(document.encode()) for document in documents}
    return loaded[documents[0]], loaded[documents[1]]


def unknown_shares(pairs: Pairs, tokenizers: tuple[Tokenizer, Tokenizer]) -> list[float]:
    """Returns the fractions of the tokens of sources and of targets that these tokenizers don't know, in a sample of the pairs."""
    some = pairs.pairs[:: -(-len(pairs.pairs) // SAMPLE)]
    ids = [[token for pair in some for token in tokenizer.encode(pair[side])] for side, tokenizer in enumerate(tokenizers)]
    return [tokens.count(UNK) / max(len(tokens), 1) for tokens in ids]


def _train_tokenizers(data: DataConfig, train: Sequence[Example], units: tuple[str, str], joint: bool) -> tuple[Tokenizer, Tokenizer]:
    """Trains source and target tokenizer of the chosen kind; "auto" means `units`, the natural kind of each side."""
    src_kind, tgt_kind = units if data.tokenizer == "auto" else (data.tokenizer, data.tokenizer)
    if isinstance(train, LazySequence) and data.tokenizer not in ("bpe", "unigram"):
        train = train[:SAMPLE]
    src, tgt = [pair.src for pair in train], [pair.tgt for pair in train]
    if joint:  # a joint vocabulary has one kind; characters can tokenize what words can't
        both = train_tokenizer(src_kind if src_kind == tgt_kind else "characters", src + tgt, data.vocab_size)
        return both, both
    return train_tokenizer(src_kind, src, data.vocab_size), train_tokenizer(tgt_kind, tgt, data.vocab_size)


def make_items(pairs: Iterable[Example], tokenizers: tuple[Tokenizer, Tokenizer], aligned: bool = False) -> Iterable[Item]:
    """Yields these pairs as items, with their alignments if `aligned`."""
    encode_src, encode_tgt = (tokenizer.encode for tokenizer in tokenizers)
    for src, tgt, alignment in pairs:
        yield Item(src, tgt, tuple(encode_src(src)), tuple(encode_tgt(tgt)), tuple(alignment) if aligned and alignment else None)


def _collect(pairs: Iterable[Example]) -> dict[str, tuple[str, ...]]:
    """Maps each source to its distinct targets, in order of appearance."""
    answers: dict[str, dict[str, None]] = {}
    for pair in pairs:
        answers.setdefault(pair.src, {})[pair.tgt] = None
    return {src: tuple(targets) for src, targets in answers.items()}


def natural_unit(texts: Sequence[str]) -> str:
    """Returns "words" for sentences with spaces; "characters" where spaces are rare (Chinese, Japanese, single words)."""
    return "words" if sum(" " in text for text in texts) * 5 >= len(texts) else "characters"


# --- a lazy sequence: a training reads about a third of its sentences, and the others need not be generated ---

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """The first `count` entries of an iterator (all of them when None), in its order. Thread-safe."""

    def __init__(self, source: Iterator[T], count: int | None = None) -> None:
        self._source, self._count = source, count
        self._known: list[T] = []
        self._lock = threading.RLock()

    def __len__(self) -> int:
        if self._count is None:
            self._make(None)
            self._count = len(self._known)
        return self._count

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(f"no entry {at} of {len(self)}")
        place = at % len(self)
        if place >= len(self._known):
            self._make(place + 1)
        return self._known[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and list(self) == list(other)

    __hash__ = None

    def _make(self, count: int | None) -> None:
        """Generates entries up to `count`. Raises ValueError when the source has too few."""
        with self._lock:
            self._known += islice(self._source, None if count is None else max(count - len(self._known), 0))
            if count is not None and len(self._known) < count:
                raise ValueError(f"{self._count} were promised, {len(self._known)} came")
