"""Tokenizers: convert a sentence to token ids and back.

Characters; words (split at spaces); pieces of a given list (WordPiece); and subword pieces trained on the sentences (SentencePiece, by
byte-pair encoding as in section 5.1 of the paper, or by a unigram language model). Ids 0 to 3 are PAD, BOS, EOS and UNK in every
vocabulary; `encode` adds none of them but UNK, batches do.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from io import BytesIO
from itertools import takewhile

import sentencepiece

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS, UNK, Refusal, limits
from playground.reading.text import is_symbol, normalise, split_graphemes, split_wordpieces

LARGEST = int(limits("vocab_size").high)  # the maximum size of a vocabulary
MAX_GIVEN = 64_000  # that of a vocabulary that was not trained here
_SPECIAL = len(SPECIAL_TOKENS)
_UNKNOWN_SURFACE = " \u2047 "  # SentencePiece's text for UNK
_CHUNK = 1000  # characters per text given to SentencePiece, which skips lines of more than 4192 bytes
_MAX_CHARACTERS = 4_000_000  # on which SentencePiece is trained


class Tokenizer:
    """The interface of all tokenizers. `kind` is its name in the knob "tokenizer", `size` counts the ids, special ones included."""

    kind: str
    size: int

    def pieces(self, text: str) -> list[tuple[str, int]]:
        """Returns the sentence as (text displayed, id); an unknown symbol keeps its own text, with id UNK."""
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        """Returns the ids of the normalised sentence, without BOS and EOS."""
        raise NotImplementedError

    def decode(self, ids: Iterable[int], unknown: Sequence[str | None] = ()) -> str:
        """Returns the sentence up to the first EOS, without PAD and BOS. UNK becomes "<unk>", so that a missing word is visible, or its
        entry in `unknown`, which has one for each id. `decode(encode(x)) == normalise(x)` when all of x is known."""
        raise NotImplementedError

    def piece(self, token: int) -> str:
        """Returns the text displayed for one id. Raises IndexError for an id outside the vocabulary."""
        raise NotImplementedError

    def to_bytes(self) -> bytes:
        """Returns a JSON document that `load_tokenizer` reads."""
        raise NotImplementedError


class _ListTokenizer(Tokenizer):
    """A vocabulary that is a list of symbols: id = index in the list, after the special ones."""

    def __init__(self, symbols: Sequence[str]) -> None:
        self.symbols = tuple(symbols)
        self.size = _SPECIAL + len(self.symbols)
        self._ids = {symbol: token for token, symbol in enumerate(self.symbols, _SPECIAL)}

    def cut(self, text: str) -> Sequence[str]:
        raise NotImplementedError

    def join(self, symbols: Iterable[str]) -> str:
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        ids = self._ids
        return [ids.get(symbol, UNK) for symbol in self.cut(normalise(text))]

    def pieces(self, text: str) -> list[tuple[str, int]]:
        return [(_displayed(symbol), self._ids.get(symbol, UNK)) for symbol in self.cut(normalise(text))]

    def decode(self, ids: Iterable[int], unknown: Sequence[str | None] = ()) -> str:
        ids = list(ids)
        replacements = iter(_replacements(ids, unknown))
        return self.join(next(replacements) if token == UNK else self.symbols[token - _SPECIAL] for token in _content(ids))

    def piece(self, token: int) -> str:
        if not 0 <= token < self.size:
            raise IndexError(f"no id {token} in a vocabulary of {self.size}")
        return SPECIAL_TOKENS[token] if token < _SPECIAL else _displayed(self.symbols[token - _SPECIAL])

    def to_bytes(self) -> bytes:
        return _to_json({"kind": self.kind, "symbols": self.symbols})


class CharacterTokenizer(_ListTokenizer):
    """Splits into characters: with `clusters` into graphemes (letters with their marks, whole emoji), else, as formerly, code points."""

    kind = "characters"

    def __init__(self, symbols: Sequence[str], clusters: bool = False) -> None:
        super().__init__(symbols)
        self.clusters = clusters

    def cut(self, text: str) -> Sequence[str]:
        return split_graphemes(text) if self.clusters else text

    def to_bytes(self) -> bytes:
        return _to_json({"kind": self.kind, "symbols": self.symbols} | ({"clusters": True} if self.clusters else {}))

    def join(self, symbols: Iterable[str]) -> str:
        return "".join(symbols)


class WordTokenizer(_ListTokenizer):
    kind = "words"

    def cut(self, text: str) -> Sequence[str]:
        return text.split()

    def join(self, symbols: Iterable[str]) -> str:
        return " ".join(symbols)


class WordPieceTokenizer(_ListTokenizer):
    """Splits at blanks and punctuation, then each word into the longest pieces that the list has (WordPiece, as in BERT): "##" begins one
    that continues a word. A word that they can't spell is one unknown token. Without capitals in the list all letters become small."""

    kind = "wordpiece"

    def cut(self, text: str) -> Sequence[str]:
        return split_wordpieces(text, self._ids)

    def join(self, symbols: Iterable[str]) -> str:
        return " ".join(symbols).replace(" ##", "")


class SentencePieceTokenizer(Tokenizer):
    """A trained SentencePiece model. Raises RuntimeError or ValueError for a `model` that is not one."""

    def __init__(self, kind: str, model: bytes) -> None:
        self.kind, self.model = kind, model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.size = self._processor.get_piece_size()
        if not _SPECIAL < self.size <= MAX_GIVEN or tuple(map(self._processor.id_to_piece, range(_SPECIAL))) != SPECIAL_TOKENS:
            raise ValueError("not a model with the four special tokens in front")

    def encode(self, text: str) -> list[int]:
        return self._processor.encode(normalise(text))

    def pieces(self, text: str) -> list[tuple[str, int]]:
        text = normalise(text)
        return list(zip(self._processor.encode(text, out_type=str), self._processor.encode(text), strict=True))

    def decode(self, ids: Iterable[int], unknown: Sequence[str | None] = ()) -> str:
        ids = list(ids)
        first, *rest = self._processor.decode(_content(ids)).split(_UNKNOWN_SURFACE)
        text = "".join((first, *(f" {word} {after}" for word, after in zip(_replacements(ids, unknown), rest, strict=False))))
        return normalise(text) if rest else text

    def piece(self, token: int) -> str:
        if not 0 <= token < self.size:
            raise IndexError(f"no id {token} in a vocabulary of {self.size}")
        return self._processor.id_to_piece(token)

    def to_bytes(self) -> bytes:
        return _to_json({"kind": self.kind, "model": base64.b64encode(self.model).decode("ascii")})


def train_tokenizer(kind: str, sentences: Iterable[str], vocabulary: int) -> Tokenizer:
    """Trains a tokenizer of this kind on these sentences, deterministically.

    `vocabulary` is the maximum number of pieces SentencePiece may learn, special tokens included; it learns fewer from too few sentences.
    Of more than `LARGEST` characters or words the most frequent remain. Raises Refusal when a setting doesn't fit.
    """
    sentences = [text for text in map(normalise, sentences) if text]
    if not sentences:
        raise ValueError("a tokenizer needs at least one sentence")
    if kind == "characters":
        counts = Counter(character for text in sentences for character in split_graphemes(text))
        return CharacterTokenizer(_frequent(counts), any(len(character) > 1 for character in counts))
    if kind == "words":
        return WordTokenizer(_frequent(Counter(" ".join(sentences).split())))
    if kind in ("bpe", "unigram"):
        return SentencePieceTokenizer(kind, _train_pieces(kind, sentences, vocabulary))
    raise ValueError(f"no tokenizer is called {kind!r}")


def load_tokenizer(data: bytes) -> Tokenizer:
    """Reads a tokenizer that `to_bytes` wrote. Raises Refusal for anything else."""
    try:
        entries = json.loads(data)
        kind = entries.pop("kind")
        if kind in ("bpe", "unigram") and list(entries) == ["model"]:
            return SentencePieceTokenizer(kind, base64.b64decode(entries["model"], validate=True))
        symbols, by_clusters = entries.pop("symbols"), kind == "characters" and entries.pop("clusters", False)
        classes = {entry.kind: entry for entry in (CharacterTokenizer, WordTokenizer, WordPieceTokenizer)}
        if kind not in classes or entries or not isinstance(symbols, list) or len(set(symbols)) != len(symbols):
            raise ValueError("not a list of distinct symbols")
        if not 0 < len(symbols) <= MAX_GIVEN - _SPECIAL or not all(is_symbol(symbol) for symbol in symbols):
            raise ValueError("symbols that no sentence holds")
        single = all(len(split_graphemes(symbol) if by_clusters else symbol) == 1 for symbol in symbols)
        if not single if kind == "characters" else " " in symbols:
            raise ValueError("symbols of another kind")
        return CharacterTokenizer(symbols, bool(by_clusters)) if kind == "characters" else classes[kind](symbols)
    except (ValueError, TypeError, KeyError, AttributeError, RuntimeError, RecursionError):
        raise Refusal("data.not_a_tokenizer") from None


def _train_pieces(kind: str, sentences: list[str], vocabulary: int) -> bytes:
    low = int(limits("vocab_size").low)
    if isinstance(vocabulary, bool) or not isinstance(vocabulary, int) or not low <= vocabulary <= LARGEST:
        raise Refusal("config.not_in_range", name="vocab_size", value=str(vocabulary)[:40], low=low, high=LARGEST)
    texts, room = [], _MAX_CHARACTERS
    for text in sentences:
        text = text.replace("▅", " ")  # SentencePiece reserves this one and skips lines that hold it
        texts += [text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK)]
        room -= len(text)
        if room <= 0:
            break
    needed = _SPECIAL + len(set().union(*texts) - {" "} | {"▁"})  # every character is a piece, and so is the mark of a word's start
    if needed > vocabulary:
        name = "data.vocabulary_too_small" if needed <= LARGEST else "data.too_many_characters"
        step = int(limits("vocab_size").step)
        raise Refusal(name, vocabulary=vocabulary, needed=-(-needed // step) * step, largest=LARGEST)
    model = BytesIO()
    specials = dict(zip(("pad_piece", "bos_piece", "eos_piece", "unk_piece"), SPECIAL_TOKENS, strict=True))
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts), model_writer=model, model_type=kind, vocab_size=vocabulary, hard_vocab_limit=False,
            character_coverage=1.0, normalization_rule_name="identity", pad_id=0, bos_id=1, eos_id=2, unk_id=3, **specials,
            num_threads=1, minloglevel=2,  # one thread: the same model every time; only errors are logged
        )  # fmt: skip
    except (RuntimeError, OSError):
        raise Refusal("data.no_pieces", kind=kind) from None
    return model.getvalue()


def _frequent(counts: Counter[str]) -> list[str]:
    """Returns the symbols in alphabetical order; of too many, the most frequent."""
    ranked = sorted(counts, key=lambda symbol: (-counts[symbol], symbol))
    return sorted(ranked[: LARGEST - _SPECIAL])


def _content(ids: Iterable[int]) -> list[int]:
    """Returns the ids before the first EOS that stand for text, known or not."""
    return [token for token in takewhile(EOS.__ne__, map(int, ids)) if token not in (PAD, BOS)]


def _replacements(ids: Sequence[int], unknown: Sequence[str | None]) -> list[str]:
    """Returns the text for each UNK among the ids."""
    words = [*unknown, *[None] * (len(ids) - len(unknown))]
    return [word or SPECIAL_TOKENS[UNK] for token, word in zip(ids, words, strict=True) if token == UNK]


def _displayed(symbol: str) -> str:
    return "␣" if symbol == " " else symbol


def _to_json(entries: dict) -> bytes:
    return json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
