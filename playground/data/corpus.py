"""A corpus: the sentences of one experiment, split into those to learn from and those to judge by, as text and as token ids."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from playground.config import UNK, DataConfig, Refusal
from playground.data.lazy_sequence import LazySequence
from playground.data.tokenizers import Tokenizer, train_tokenizer
from playground.reading.uploads import Pairs
from playground.tasks.toy_tasks import TASKS, Example, answers, drawn, references

SPLITS = ("train", "heldout", "test", "harder")
PROBES = 4
SAMPLE = 3000  # sentences of a task; in every one the last new word or character came before the 1000th


class Item(NamedTuple):
    """One pair. `alignment` names for every target token the source token it must look at (None: no single one); None if not known."""

    src: str
    tgt: str
    src_ids: tuple[int, ...]  # without BOS and EOS
    tgt_ids: tuple[int, ...]
    alignment: tuple[int | None, ...] | None = None


@dataclass(frozen=True)
class Corpus:
    """What `build_corpus` made of a DataConfig. No source of one split is in another (but for the task beer, whose one pair is
    trained on and held out)."""

    name: str
    src_tokenizer: Tokenizer
    tgt_tokenizer: Tokenizer
    train: Sequence[Item]
    heldout: Sequence[Item]  # new sentences of the same kind, each source once
    harder: Sequence[Item]  # sentences of a kind never trained on, each source once; often none
    references: Mapping[str, tuple[str, ...]]  # every known right answer to each source of the three
    test: Sequence[Item] = ()  # own data: new sentences that nothing is decided by, neither settings nor when to stop
    credit: str = ""  # whom licensed sentences are owed to
    left_out: tuple[int, ...] = ()  # lines of own data with more than `max_tokens` tokens on a side
    longest_left_out: int = 0  # tokens of the longest of those sides
    telling: Item | None = None  # of a task whose sentences say nothing to a person: one of its held-out kind that does

    @property
    def longest(self) -> int:
        """The longest sentence in tokens, with EOS or BOS; the harder kind left out, and judged by a sample where there are very many."""
        return 1 + max(max(len(item.src_ids), len(item.tgt_ids)) for item in (*self.train[:SAMPLE], *self.heldout))

    @property
    def longest_target(self) -> int:
        """The longest target of any split in tokens, with EOS; a sample of those that a task makes without end."""
        splits = (getattr(self, name) for name in SPLITS)
        return 1 + max(len(item.tgt_ids) for split in splits for item in (split[:SAMPLE] if isinstance(split, LazySequence) else split))

    @property
    def probes(self) -> tuple[Item, ...]:
        """Four held-out items whose sources differ in length, from the shortest to the longest; fewer if there are fewer lengths. The last
        but one, which the page shows first, is the one that says something to a person, if that is no other probe's length."""
        first = {len(item.src_ids): item for item in reversed(self.heldout)}
        lengths = sorted(first)
        last, steps = len(lengths) - 1, max(1, min(PROBES, len(lengths)) - 1)
        found = [first[lengths[place]] for place in sorted({round(last * step / steps) for step in range(steps + 1)})]
        if self.telling and len(found) == PROBES and len(found[-3].src_ids) < len(self.telling.src_ids) < len(found[-1].src_ids):
            found[-2] = self.telling
        return tuple(found)


def build_corpus(data: DataConfig, own: Pairs | None = None, joint: bool = False) -> Corpus:
    """The corpus of a task, or of `own` pairs when the task is "own". The same arguments give the same corpus.

    Sentences of a task are made when they are first asked for, so it takes no time to have many. Tokenizers are trained on the training
    split only, lists of words and characters on a sample of it where it is large; `joint` makes one for both sides (shared source and
    target embeddings need it).
    Raises Refusal when own data is missing or too little, or when the tokenizer's settings don't fit the sentences.
    """
    if data.task == "own":
        return _own_corpus(data, own, joint)
    task, seed = TASKS[data.task], data.data_seed
    train = LazySequence(drawn(data.task, "train", seed), 1 if task.memorised else data.train_size)
    heldout, harder = (islice(drawn(data.task, split, seed), data.validation_size) for split in ("heldout", "harder"))
    units = (task.src_unit, task.tgt_unit)
    tokenizers = _train_tokenizers(data, train, units, joint)
    aligned = tuple(tokenizer.kind for tokenizer in tokenizers) == units
    items = (_items(split, tokenizers, aligned) for split in (train, heldout, harder))
    splits = (LazySequence(next(items), len(train)), tuple(next(items)), LazySequence(next(items)))
    telling = next(_items(answers(data.task, task.telling) if task.telling else (), tokenizers, aligned), None)
    return Corpus(data.task, *tokenizers, *splits, references=_Answers(data.task), telling=telling if _known(telling) else None)


def _known(item: Item | None) -> bool:
    """Whether the tokenizers have all of its tokens: they are trained on what a few sentences happen to have."""
    return item is not None and UNK not in (*item.src_ids, *item.tgt_ids)


class _Answers(dict[str, tuple[str, ...]]):
    """Every right answer of a task's sentences, found when it is first asked for."""

    def __init__(self, task: str) -> None:
        super().__init__()
        self.task = task

    def __missing__(self, src: str) -> tuple[str, ...]:
        found = references(self.task, src)
        if found is None:
            raise KeyError(src)
        self[src] = found
        return found

    def get(self, src: str, default: Any = None) -> Any:
        try:
            return self[src]
        except KeyError:
            return default


def _own_corpus(data: DataConfig, own: Pairs | None, joint: bool) -> Corpus:
    """Own pairs, all of them. Which are held out and which are kept for the test, `split_sources` says."""
    if own is None:
        raise Refusal("data.no_own_pairs")
    pairs = [Example(src, tgt) for src, tgt, _ in own.pairs]
    answers, split = _collect(pairs), split_sources(own, data)
    train = [pair for pair in pairs if pair.src not in split]
    units = tuple(map(natural_unit, ([pair.src for pair in train], [pair.tgt for pair in train])))
    tokenizers = _train_tokenizers(data, train, units, joint)

    items = list(_items(pairs, tokenizers, aligned=False))
    fits = [max(len(item.src_ids), len(item.tgt_ids)) <= data.max_tokens for item in items]
    longest = max((len(ids) for item, fit in zip(items, fits, strict=True) if not fit for ids in (item.src_ids, item.tgt_ids)), default=0)
    kept = [item for item, fit in zip(items, fits, strict=True) if fit]
    learnt = tuple(item for item in kept if item.src not in split)
    judged: dict[str, dict[str, Item]] = {"heldout": {}, "test": {}}  # each source once, with its first target
    for item in kept:
        if item.src in split:
            judged[split[item.src]].setdefault(item.src, item)
    heldout, test = (tuple(items.values()) for items in judged.values())
    if not learnt or not heldout:
        raise Refusal("data.too_long_to_learn", limit=data.max_tokens, count=fits.count(False))
    left_out = tuple(line for (_, _, line), fit in zip(own.pairs, fits, strict=True) if not fit)
    return Corpus(" + ".join(own.names), *tokenizers, learnt, heldout, (), answers, test, own.credit, left_out, longest)


def split_sources(own: Pairs, data: DataConfig) -> dict[str, str]:
    """The sources that are not trained on, with their split: "heldout" or "test". They are those that were given for it, or a tenth each of
    the distinct sources (about, and at most `data.validation_size` and `data.test_size`), drawn by a seeded shuffle. Sources of one group,
    where the pairs have such, stay together: the forms of one word, the sentences of one text. Raises Refusal when there are too few."""
    (validation, test), last = own.given, len(own.pairs) - sum(own.given)
    found = {pair.src: "heldout" for pair in own.pairs[last : last + validation]}
    found |= {pair.src: "test" for pair in own.pairs[last + validation :]}
    groups: dict[str, dict[str, None]] = {}
    seen: dict[str, str] = {}  # source -> the group in which it was first
    for pair, group in zip(own.pairs, own.groups or (pair.src for pair in own.pairs), strict=True):
        if pair.src not in found:
            groups.setdefault(seen.setdefault(pair.src, group), {})[pair.src] = None
    if len(groups) + len(found) < 2:
        raise Refusal("data.too_few_sources", count=len(groups) + len(found))
    order, tenth = list(groups), len(seen) // 10
    random.Random(data.data_seed).shuffle(order)
    order = order[:-1]  # one at least is learnt
    drawn = {"heldout": 0 if validation else max(1, min(data.validation_size, tenth)), "test": 0 if test else min(data.test_size, tenth)}
    for split, most in drawn.items():
        taken = 0
        while order and taken < most:
            sources = groups[order.pop(0)]
            found |= dict.fromkeys(sources, split)
            taken += len(sources)
    return found


def _train_tokenizers(data: DataConfig, train: Sequence[Example], units: tuple[str, str], joint: bool) -> tuple[Tokenizer, Tokenizer]:
    """Source and target tokenizer of the kind the knob asks for; "auto" takes `units`, the kind that is natural for each side."""
    src_kind, tgt_kind = units if data.tokenizer == "auto" else (data.tokenizer, data.tokenizer)
    if isinstance(train, LazySequence) and data.tokenizer not in ("bpe", "unigram"):
        train = train[:SAMPLE]
    src, tgt = [pair.src for pair in train], [pair.tgt for pair in train]
    if joint:  # one vocabulary is one kind; characters can cut what words can't
        both = train_tokenizer(src_kind if src_kind == tgt_kind else "characters", src + tgt, data.vocab_size)
        return both, both
    return train_tokenizer(src_kind, src, data.vocab_size), train_tokenizer(tgt_kind, tgt, data.vocab_size)


def _items(pairs: Iterable[Example], tokenizers: tuple[Tokenizer, Tokenizer], aligned: bool) -> Iterable[Item]:
    encode_src, encode_tgt = (tokenizer.encode for tokenizer in tokenizers)
    for src, tgt, alignment in pairs:
        yield Item(src, tgt, tuple(encode_src(src)), tuple(encode_tgt(tgt)), tuple(alignment) if aligned and alignment else None)


def _collect(pairs: Iterable[Example]) -> dict[str, tuple[str, ...]]:
    """Source -> every different target it has, in order of appearance."""
    answers: dict[str, dict[str, None]] = {}
    for pair in pairs:
        answers.setdefault(pair.src, {})[pair.tgt] = None
    return {src: tuple(targets) for src, targets in answers.items()}


def natural_unit(texts: Sequence[str]) -> str:
    """Words where sentences have spaces; characters where they hardly do (Chinese, Japanese, single words)."""
    return "words" if sum(" " in text for text in texts) * 5 >= len(texts) else "characters"
