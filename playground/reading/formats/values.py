"""Values: turns a value of JSON, Parquet or the Hub into named cells, and a dictionary into the records in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain, pairwise
from typing import Any

from playground.reading.formats.columns import is_language, plain

_MAX_DEPTH = 4  # nested names: "data.answers.text"
_LANGUAGE_KEYS = ("lang", "language", "locale", "lang_code", "language_code", "code")  # keys for the language of a sentence
_BESIDE = {"id", "_id", "uuid", "url", "audio", "author", "user", "username", "license", "licence"}  # keys of text that is not a sentence


class Number(str):
    """A number or truth value as written: text, but never preferred as a sentence."""

    __slots__ = ()


def format_text(value: Any) -> str:
    """Formats a single value for display; "" for null, NaN and undisplayable values."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return Number("true" if value else "false")
    if isinstance(value, float):
        return Number(value) if value == value else ""
    if isinstance(value, int | Decimal | datetime | date | time | timedelta):
        return Number(value)
    try:
        return value.decode("utf-8") if isinstance(value, bytes) else ""
    except UnicodeError:
        return ""


def flatten(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yields the named cells in a value; those of a nested dictionary are called "outer.inner"."""
    if isinstance(value, dict):
        if value.keys() == {"language", "translation"} and _are_parallel(value["language"], value["translation"]):
            value = _group_by_language(value["language"], value["translation"])
        for key, inner in value.items() if depth < _MAX_DEPTH else ():
            label = f"{name}.{key}" if name else str(key)
            if type(inner) is str:
                yield label, inner
            else:
                yield from flatten(inner, label, depth + 1)
    elif isinstance(value, list | tuple) and value and all(isinstance(inner, dict) for inner in value):
        if languages := find_texts_by_language(value):
            yield from flatten(languages, name, depth)
            return
        for key in dict.fromkeys(chain.from_iterable(value)) if depth < _MAX_DEPTH else ():
            yield from flatten([inner[key] for inner in value if key in inner], f"{name}.{key}" if name else str(key), depth + 1)
    else:
        yield name, make_cell(value)


def make_cell(value: Any) -> Any:
    return [format_text(inner) for inner in value] if isinstance(value, list | tuple) else format_text(value)


def _are_parallel(left: Any, right: Any) -> bool:
    return isinstance(left, list | tuple) and isinstance(right, list | tuple) and len(left) == len(right)


def _group_by_language(languages: Sequence, sentences: Sequence) -> dict[str, Any]:
    """Groups the Hub's translations in variable languages: a list of languages and one of sentences."""
    by_language: dict[str, list] = {}
    for language, sentence in zip(languages, sentences, strict=True):
        by_language.setdefault(format_text(language), []).append(sentence)
    return {language: sentences_of if len(sentences_of) > 1 else sentences_of[0] for language, sentences_of in by_language.items()}


def find_texts_by_language(values: Sequence[Any]) -> dict[str, Any]:
    """Groups sentences by their declared languages: [{"lang": "en", "text": "a"}, …]; {} for any other values."""
    if not values or not all(isinstance(value, dict) for value in values):
        return {}
    labelled = [(value.get(key), _find_only_text(value, key)) for value in values for key in _LANGUAGE_KEYS if key in value]
    languages, texts = zip(*labelled, strict=True) if labelled else ((), ())
    if len(labelled) != len(values) or None in texts or not all(isinstance(code, str) and is_language(code) for code in languages):
        return {}
    return _group_by_language(languages, texts)


def _find_only_text(value: dict, language: str) -> Any:
    """Returns the only text of a dictionary beside its language; None if there is none or several."""
    texts = [inner for key, inner in value.items() if key != language and type(inner) is str and plain(key) not in _BESIDE]
    return texts[0] if len(texts) == 1 else None


def unwrap_records(value: dict) -> Iterable[dict]:
    """Returns a dictionary's records: itself, the row it wraps, the question-answer turns of a conversation, or a chatbot's patterns."""
    for key in ("messages", "conversations", "conversation"):
        turns = value.get(key)
        if isinstance(turns, list | tuple) and turns and all(isinstance(turn, dict) for turn in turns):
            messages = [(turn.get("role", turn.get("from")), turn.get("content", turn.get("value"))) for turn in turns]
            return [
                {"user": question, "assistant": answer}
                for (role, question), (next_role, answer) in pairwise(messages)
                if role in ("user", "human") and next_role in ("assistant", "gpt", "model", "bot")
            ]
    patterns, responses = value.get("patterns"), value.get("responses")
    if isinstance(patterns, list | tuple) and isinstance(responses, list | tuple):  # of a chatbot: any response fits any pattern
        rest = {key: inner for key, inner in value.items() if key not in ("patterns", "responses")}
        return [{"pattern": pattern, "response": responses, **rest} for pattern in patterns or [""]]
    inner = value.get("row")
    return [inner if isinstance(inner, dict) else value]
