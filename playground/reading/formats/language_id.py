"""Language identification: the script of a letter or line, and the language of lines in Latin, Cyrillic or Arabic letters.

Based on the most frequent words and on rare letters: enough to tell whether two languages alternate in a few lines, but not reliable for a
single line.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter

_WORDS = {
    "en": "the is are you i he she it we they to of and do does not this that what how my your have has was with where good i'm can no yes "
    "in a an for on at by from be been were will would could had his her him them their there who when which if or but so as all me",
    "de": "der die das ist sind ich du er sie es wir nicht und ein eine zu wie was mein dein haben hat war mit wo guten den auf kann ja "
    "in an so",
    "fr": "le la les est sont je tu il elle nous vous ne pas et un une de du des que qui mon ma ton c'est j'ai avec où bonjour dans à au",
    "es": "el la los las es son yo tú él ella no y un una de del que qué mi tu está con dónde cómo por para muy hola lo se en me buenos",
    "it": "il lo la i gli le è sono io tu lui lei non e un una di del che mi mio tuo ha ho con dove come per molto ciao si in buon questo",
    "pt": "o a os as é são eu tu ele ela não e um uma de do da que meu seu está com onde como por para muito você se em me bom isso ao",
    "nl": "de het een is zijn ik jij hij zij wij niet en van te dat wat hoe mijn jouw heeft was met waar goede je op dit er naar in had",
    "sv": "det den en ett är jag du han hon vi de inte och att som vad hur min din har var med god på i av till för om sig",
    "da": "det den en et er jeg du han hun vi de ikke og at som hvad hvor min din har var med god på i af til for om sig",
    "pl": "to jest są ja ty on ona my nie i w na z się co jak mój twój ma był gdzie dzień do że czy bardzo ten ta po jestem",
    "cs": "to je jsou já ty on ona my ne a v na s se co jak můj tvůj má byl kde dobrý do že bardzo ten ta po jsem není",
    "ro": "este sunt eu tu el ea noi nu și un o de la ce cum meu tău are era cu unde bună în pe că mai foarte asta din",
    "hu": "a az egy ez én te ő mi nem és van hogy mit hol jó volt meg ki itt ott csak is de már nagyon vagyok",
    "fi": "on ovat minä sinä hän se me ei ja mitä missä minun sinun oli hyvää tämä olen en mutta kuin jos että",
    "tr": "bir bu ve ben sen o biz değil mi ne nasıl benim senin var çok için da de nerede iyi ama daha gibi mu",
    "id": "yang ini itu saya kamu dia kami tidak dan di ke dari apa bagaimana adalah ada dengan mana selamat sangat untuk",
    "vi": "là tôi bạn anh không và của này gì một có được ở đâu rất cho với những các",
    "eo": "la estas mi vi li ŝi ni ne kaj de kio kiel mia via havas kun kie al en tre ĉu bona",
    "ru": "и в не на я что он она это как с ты мы вы они но да нет у меня мой был где есть по все за из к для так",
    "uk": "і в не на я що він вона це як з ти ми ви вони але так ні у мене мій був де є по всі за із до для та",
    "bg": "и в не на аз че той тя това как с ти ние вие те но да е съм са ли мой беше къде по всички за от към към ще се",
    "sr": "и у не на ја да он она то како са ти ми ви они али је сам су ли мој био где по све за од ка ће се",
    "ar": "في من على إلى هذا هذه ما لا أن هو هي أنا أنت مع هل كان لم عن أو كل",
    "fa": "در از به که این را با است آن من تو او ما شما نه هر یک بود برای تا",
    "la": "est sunt ego tu non et in ad cum quid ubi meus tuus sed qui quae hoc esse erat",
}
_LETTERS = {
    "de": "ßäöü", "fr": "êèùœîûéàçôëï", "es": "ñ¿¡áéíóú", "pt": "ãõáéíóúâêôàç", "it": "ìòàèéù", "nl": "ëïé", "sv": "åäö", "da": "æøå",
    "pl": "łąęśżźćńó", "cs": "řěůžščáéíýú", "ro": "țșăâî", "hu": "őűáöéíóúü", "fi": "äö", "tr": "ğışçöü", "eo": "ĉĝĵŝŭ",
    "ru": "ыэъё", "uk": "іїєґ", "bg": "ъ", "sr": "ђјљњћџ", "ar": "ةأإى", "fa": "پچگیک",
    "vi": "ơưđạảấầậắệềếểọốồộớờợủứừựáàéèíìóòúùâêô",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_MAX_LINE_CHARACTERS = 100  # examined


def _build_weights() -> dict[str, list[tuple[str, float]]]:
    """Maps each word or letter to languages, weighted by the inverse of their number."""
    known: dict[str, list[str]] = {}
    for table, cut in ((_WORDS, str.split), (_LETTERS, list)):
        for language, features in table.items():
            for feature in cut(features):
                known.setdefault(feature if table is _WORDS else f"'{feature}", []).append(language)
    return {feature: [(language, 1 / len(languages)) for language in languages] for feature, languages in known.items()}


_WEIGHTS = _build_weights()


_SCRIPTS = {  # each writes essentially one language
    "CJK": "zh", "JAPANESE": "ja", "HANGUL": "ko", "GREEK": "el", "HEBREW": "he", "THAI": "th", "ARMENIAN": "hy", "GEORGIAN": "ka",
    "TAMIL": "ta", "TELUGU": "te", "KANNADA": "kn", "MALAYALAM": "ml",
}  # fmt: skip
_MIN_EVIDENCE, _MIN_EVIDENCE_PER_LINE = 2.0, 0.15  # score required before lines count as being in a language
_MIN_RATIO = 1.4  # times the score of the second language


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
    if script in _SCRIPTS:
        return _SCRIPTS[script]
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
