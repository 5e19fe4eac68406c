"""Own tokenizers: a SentencePiece model, or a list of words, characters or WordPiece pieces, becomes one of tokenizers.py.

A SentencePiece file is a protocol buffer (https://protobuf.dev/programming-guides/encoding): fields of a key, which is 8 * number + type,
and a value. Only its pieces change place: the four special ones come first, with their ids and texts.
"""

import re
from collections.abc import Iterator

from playground.config import SPECIAL_TOKENS, Refusal
from playground.data import tokenizers
from playground.reading.text import normalise, split_graphemes

_SPECIALS = re.compile(r"(?i)\[(pad|unk|cls|sep|mask|unused\d+)\]|</?s>|<(pad|unk|bos|eos|mask)>")
_PIECES, _TRAINER = 1, 2  # fields of the model
_UNKNOWN, _CONTROL, _BPE = 2, 3, 2  # types of a piece; a type of model
_TEXT, _SCORE, _TYPE, _MODEL_TYPE, _FIRST_ID, _FIRST_PIECE, _SURFACE = 1, 2, 3, 3, 40, 45, 44  # fields of a piece, and of the trainer
_ORDER = (3, 0, 1, 2)  # SPECIAL_TOKENS as the trainer's fields have them: unk, bos, eos, pad


def read_tokenizer(name: str, data: bytes) -> tokenizers.Tokenizer:
    """Reads the file `name`. Raises Refusal when it is no tokenizer, or one of too many pieces."""
    try:
        tokenizer = _read_model(data) if name.lower().endswith(".model") else _read_list(data.decode("utf-8-sig"))
        return tokenizers.load_tokenizer(tokenizer.to_bytes())  # checks its symbols
    except (ValueError, RuntimeError, LookupError, Refusal):
        raise Refusal("data.no_tokenizer_file", name=name) from None


def _read_list(text: str) -> tokenizers.Tokenizer:
    """Reads a list with an entry at the beginning of each line, and perhaps its frequency behind it."""
    entries = dict.fromkeys(normalise(line.split()[0]) for line in text.splitlines() if line.strip())
    symbols = [entry for entry in entries if entry and not _SPECIALS.fullmatch(entry)]
    if not symbols or any(symbol.startswith("▁") for symbol in symbols):
        raise ValueError("nothing, or the pieces of a SentencePiece model without the model")
    if any(symbol.startswith("##") for symbol in symbols):
        return tokenizers.WordPieceTokenizer(symbols)
    if all(len(split_graphemes(symbol)) == 1 for symbol in symbols):
        return tokenizers.CharacterTokenizer([*symbols, " "], clusters=True)
    return tokenizers.WordTokenizer(symbols)


def _read_model(data: bytes) -> tokenizers.Tokenizer:
    """Reads a SentencePiece model."""
    pieces, trainer, rest = [], b"", b""
    for number, kind, value in _fields(data):
        if number == _PIECES and kind == 2:
            if {field: content for field, _, content in _fields(value)}.get(_TYPE, 1) not in (_UNKNOWN, _CONTROL):
                pieces.append(value)
        elif number == _TRAINER and kind == 2:
            trainer += value
        else:
            rest += _field(number, kind, value)
    specials = [
        _field(_TEXT, 2, text.encode()) + _field(_SCORE, 5, bytes(4)) + _field(_TYPE, 0, _UNKNOWN if text == "<unk>" else _CONTROL)
        for text in SPECIAL_TOKENS
    ]
    is_bpe = {field: content for field, _, content in _fields(trainer)}.get(_MODEL_TYPE) == _BPE
    for place, token in enumerate(_ORDER):
        trainer += _field(_FIRST_ID + place, 0, token) + _field(_FIRST_PIECE + place, 2, SPECIAL_TOKENS[token].encode())
    trainer += _field(_SURFACE, 2, " \u2047 ".encode())
    model = b"".join(_field(_PIECES, 2, piece) for piece in (*specials, *pieces)) + _field(_TRAINER, 2, trainer) + rest
    return tokenizers.SentencePieceTokenizer("bpe" if is_bpe else "unigram", model)


def _fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Yields (number, type, value) of each field: a number for type 0, bytes for 1 (8 of them), 2 and 5 (4 of them). Raises ValueError."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind, size = key & 7, {1: 8, 5: 4}.get(key & 7)
        if kind == 0:
            value, at = _number(data, at)
        elif kind == 2 or size:
            size, at = (size, at) if size else _number(data, at)
            value, at = data[at : at + size], at + size
        if kind not in (0, 1, 2, 5) or at > len(data):
            raise ValueError("no protocol buffer")
        yield key >> 3, kind, value


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Reads a number of 7 bits a byte, lowest first, at a place; returns it and the place after it. Raises IndexError."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at
        if shift > 63:
            raise ValueError("no number")


def _field(number: int, kind: int, value: int | bytes) -> bytes:
    if kind == 0:
        return _pack(8 * number) + _pack(value)
    return _pack(8 * number + kind) + (_pack(len(value)) if kind == 2 else b"") + value


def _pack(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _pack(number >> 7)
