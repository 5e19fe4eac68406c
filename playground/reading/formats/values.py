"""Values: what a value of JSON, Parquet or the Hub holds, as cells with names, and the records that one dictionary stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain, pairwise
from typing import Any

from playground.reading.formats.columns import is_language, plain

_MAX_DEPTH = 4  # names within names: "data.answers.text"
_LANGUAGE_KEYS = ("lang", "language", "locale", "lang_code", "language_code", "code")  # what says in which language a sentence is
_BESIDE = {"id", "_id", "uuid", "url", "audio", "author", "user", "username", "license", "licence"}  # and is no sentence


class Number(str):
    """A number or truth value as it is written: text, but no sentence where there is a choice."""

    __slots__ = ()


def text_of(value: Any) -> str:
    """A single value as a person sees it; nothing ("") for null, for what is no number and for what can't be seen."""
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


def flat(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The cells in a value, each with its name: those of a dictionary within it are called "outer.inner"."""
    if isinstance(value, dict):
        if value.keys() == {"language", "translation"} and _alike(value["language"], value["translation"]):
            value = _by_language(value["language"], value["translation"])
        for key, inner in value.items() if depth < _MAX_DEPTH else ():
            label = f"{name}.{key}" if name else str(key)
            if type(inner) is str:
                yield label, inner
            else:
                yield from flat(inner, label, depth + 1)
    elif isinstance(value, list | tuple) and value and all(isinstance(inner, dict) for inner in value):
        if languages := texts_by_language(value):
            yield from flat(languages, name, depth)
            return
        for key in dict.fromkeys(chain.from_iterable(value)) if depth < _MAX_DEPTH else ():
            yield from flat([inner[key] for inner in value if key in inner], f"{name}.{key}" if name else str(key), depth + 1)
    else:
        yield name, cell_of(value)


def cell_of(value: Any) -> Any:
    return [text_of(inner) for inner in value] if isinstance(value, list | tuple) else text_of(value)


def _alike(one: Any, two: Any) -> bool:
    return isinstance(one, list | tuple) and isinstance(two, list | tuple) and len(one) == len(two)


def _by_language(languages: Sequence, sentences: Sequence) -> dict[str, Any]:
    """The Hub's translations in variable languages: one list of languages, one of sentences."""
    found: dict[str, list] = {}
    for language, sentence in zip(languages, sentences, strict=True):
        found.setdefault(text_of(language), []).append(sentence)
    return {language: said if len(said) > 1 else said[0] for language, said in found.items()}


def texts_by_language(values: Sequence[Any]) -> dict[str, Any]:
    """Sentences that each say their language, by language: [{"lang": "en", "text": "a"}, …]; {} if they are anything else."""
    if not values or not all(isinstance(value, dict) for value in values):
        return {}
    found = [(value.get(key), _only_text(value, key)) for value in values for key in _LANGUAGE_KEYS if key in value]
    languages, texts = zip(*found, strict=True) if found else ((), ())
    if len(found) != len(values) or None in texts or not all(isinstance(one, str) and is_language(one) for one in languages):
        return {}
    return _by_language(languages, texts)


def _only_text(value: dict, language: str) -> Any:
    """What a dictionary holds beside its language that is text; None if that is nothing or more than one thing."""
    texts = [inner for key, inner in value.items() if key != language and type(inner) is str and plain(key) not in _BESIDE]
    return texts[0] if len(texts) == 1 else None


def records(value: dict) -> Iterable[dict]:
    """What one dictionary stands for: itself, the row that it wraps, each question of a conversation with its answer, or a chatbot's."""
    for key in ("messages", "conversations", "conversation"):
        turns = value.get(key)
        if isinstance(turns, list | tuple) and turns and all(isinstance(turn, dict) for turn in turns):
            said = [(turn.get("role", turn.get("from")), turn.get("content", turn.get("value"))) for turn in turns]
            return [
                {"user": question, "assistant": answer}
                for (asker, question), (answerer, answer) in pairwise(said)
                if asker in ("user", "human") and answerer in ("assistant", "gpt", "model", "bot")
            ]
    patterns, responses = value.get("patterns"), value.get("responses")
    if isinstance(patterns, list | tuple) and isinstance(responses, list | tuple):  # of a chatbot: each of one may be said to each
        rest = {key: inner for key, inner in value.items() if key not in ("patterns", "responses")}
        return [{"pattern": pattern, "response": responses, **rest} for pattern in patterns or [""]]
    inner = value.get("row")
    return [inner if isinstance(inner, dict) else value]
