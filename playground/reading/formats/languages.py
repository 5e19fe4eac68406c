"""Languages: their codes and their names in the languages of their teachers ("English", "Englisch"), the script of a letter or line, and
the language of lines in Latin, Cyrillic or Arabic letters.

languages.json has the lists; most names are from Unicode's CLDR (Unicode License v3). Lines are told apart by frequent words and rare
letters: enough to tell whether two languages alternate in a few lines, but not reliable for a single line.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from pathlib import Path

_DATA = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
_SCRIPTED = re.compile(r"([a-z]{2,3})([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|\d{3}))?")  # en, en-US, zh_Hans_CN, eng_Latn, es-419
_MAX_NAME_CHARACTERS = 40
_INFLECTED = ("er", "es", "en", "e")  # Englischer Satz, phrase anglaise
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_MAX_LINE_CHARACTERS = 100  # examined
_MIN_EVIDENCE, _MIN_EVIDENCE_PER_LINE = 2.0, 0.15  # score required before lines count as being in a language
_MIN_RATIO = 1.4  # times the score of the second language


def fold(name: str) -> str:
    """Folds a name to lower case without the accents on Latin letters, which users often omit."""
    low = unicodedata.normalize("NFC", name.strip().casefold()).replace("’", "'").replace("ʼ", "'")
    bare = low if low.isascii() else "".join(sign for sign in unicodedata.normalize("NFD", low) if not unicodedata.combining(sign))
    return bare if bare.isascii() else low


NAMES = {fold(name): code for code, names in _DATA["names"].items() for name in names.split("|")}
NAMES |= {fold(name): name for name in _DATA["names_without_code"].split()}
_CODES = frozenset(_DATA["codes"].split())


def find_language(name: str) -> str:
    """Returns the code of the language with this name, in any inflection; else ""."""
    low = fold(name[: 2 * _MAX_NAME_CHARACTERS])
    roots = (low, *(low.removesuffix(end) for end in _INFLECTED if low.endswith(end) and len(low) > 6), low.removeprefix("ภาษา"))
    return next((NAMES[root] for root in roots if root in NAMES), "")


def find_code(name: str) -> str:
    """Returns the language in a code, in lower case: "en", "pt-BR", "eng_Latn"; else ""."""
    match = _SCRIPTED.fullmatch(name.strip(), 0, 20)
    return match[1] if match and match[1] in _CODES else ""


def is_language(name: str) -> bool:
    """Whether a column or a file is named after a language: "de", "pt-BR", "eng_Latn", "German"."""
    return bool(find_language(name) or find_code(name))


# --- the language of lines ---


def _build_weights() -> dict[str, list[tuple[str, float]]]:
    """Maps each word, and each letter after an apostrophe, to languages, weighted by the inverse of their number."""
    known: dict[str, list[str]] = {}
    for features, text in (("frequent_words", "{}"), ("letters", "'{}")):
        for language, listed in _DATA[features].items():
            for feature in listed.split() if features == "frequent_words" else listed:
                known.setdefault(text.format(feature), []).append(language)
    return {feature: [(language, 1 / len(languages)) for language in languages] for feature, languages in known.items()}


_WEIGHTS = _build_weights()


def detect_line_language(line: str) -> str:
    """Returns the code of the highest-scoring language, or "" if none or several are."""
    scores = _score_languages(line)
    most = max(scores.values(), default=0)
    best = [language for language, score in scores.items() if score == most]
    return best[0] if len(best) == 1 else ""


def detect_language(lines: Sequence[str]) -> str:
    """Returns the code of the language that all lines together are in, or "" if that is unclear."""
    script, count = max(Counter(find_line_script(line)[0] for line in lines).items(), key=itemgetter(1), default=("", 0))
    if 10 * count < 9 * len(lines):
        return ""
    if script in _DATA["scripts"]:  # each writes essentially one language
        return _DATA["scripts"][script]
    scores: Counter[str] = Counter()
    for line in lines:
        scores.update(_score_languages(line))
    (best, most), (_, second) = [*scores.most_common(2), ("", 0.0), ("", 0.0)][:2]
    return best if most >= max(_MIN_EVIDENCE, _MIN_EVIDENCE_PER_LINE * len(lines), _MIN_RATIO * second) else ""


def find_line_script(line: str) -> tuple[str, int]:
    """Returns the commonest script at the beginning of a line and its number of distinct letters; any kana make it Japanese."""
    letters = filter(str.isalpha, set(line[:_MAX_LINE_CHARACTERS]))
    counts = {"LATIN": sum(1 for _ in letters)} if line.isascii() else Counter(map(find_letter_script, letters))
    if "HIRAGANA" in counts or "KATAKANA" in counts:
        return "JAPANESE", sum(counts.values())
    most, script = max(((count, name) for name, count in counts.items()), default=(0, ""))
    return (script, most) if most else ("", 0)


@lru_cache(maxsize=20_000)
def find_letter_script(letter: str) -> str:
    """Returns the script of a letter as Unicode names it: "LATIN", "CYRILLIC", "CJK", "HIRAGANA"."""
    return unicodedata.name(letter, "").split(" ")[0].split("-")[0]


def _score_languages(line: str) -> dict[str, float]:
    """Scores languages by the beginning of a line."""
    text = line[:_MAX_LINE_CHARACTERS].lower().replace("’", "'")
    features = _WORD.findall(text) + ([] if text.isascii() else [f"'{letter}" for letter in text if not letter.isascii()])
    scores: dict[str, float] = {}
    for feature in dict.fromkeys(features):  # deduplicated in a fixed order: floating-point sums depend on it
        for language, weight in _WEIGHTS.get(feature, ()):
            scores[language] = scores.get(language, 0.0) + weight
    return scores
