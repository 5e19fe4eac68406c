"""Tongues: which writing a letter is of, and which language a short line in Latin letters is in.

The language is told by the smallest words and by letters that few languages have: enough to see that two languages take turns in a file
of a few lines. It is no judge of a single one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORDS = {
    "en": "the is are you i he she it we they to of and do does not this that what how my your have has was with where good i'm can no yes",
    "de": "der die das ist sind ich du er sie es wir nicht und ein eine zu wie was mein dein haben hat war mit wo guten den auf kann ja",
    "fr": "le la les est sont je tu il elle nous vous ne pas et un une de du des que qui mon ma ton c'est j'ai avec où bonjour dans à au",
    "es": "el la los las es son yo tú él ella no y un una de del que qué mi tu está con dónde cómo por para muy hola lo se en me buenos",
    "it": "il lo la i gli le è sono io tu lui lei non e un una di del che mi mio tuo ha ho con dove come per molto ciao si in buon questo",
    "pt": "o a os as é são eu tu ele ela não e um uma de do da que meu seu está com onde como por para muito você se em me bom isso ao",
    "nl": "de het een is zijn ik jij hij zij wij niet en van te dat wat hoe mijn jouw heeft was met waar goede je op dit er ben naar",
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
    "la": "est sunt ego tu non et in ad cum quid ubi meus tuus sed qui quae hoc esse erat",
}
_LETTERS = {
    "de": "ßäöü", "fr": "êèùœîûéàçôëï", "es": "ñ¿¡áéíóú", "pt": "ãõáéíóúâêôàç", "it": "ìòàèéù", "nl": "ëïé", "sv": "åäö", "da": "æøå",
    "pl": "łąęśżźćńó", "cs": "řěůžščáéíýú", "ro": "țșăâî", "hu": "őűáöéíóúü", "fi": "äö", "tr": "ğışçöü", "eo": "ĉĝĵŝŭ",
    "vi": "ơưđạảấầậắệềếểọốồộớờợủứừựáàéèíìóòúùâêô",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_BEGINNING = 100  # characters of a line that are looked at


def _weights() -> dict[str, list[tuple[str, float]]]:
    """Word or letter -> languages, each with the more weight the fewer they are."""
    known: dict[str, list[str]] = {}
    for table, cut in ((_WORDS, str.split), (_LETTERS, list)):
        for language, signs in table.items():
            for sign in cut(signs):
                known.setdefault(sign if table is _WORDS else f"'{sign}", []).append(language)
    return {sign: [(language, 1 / len(languages)) for language in languages] for sign, languages in known.items()}


_WEIGHTS = _weights()


def tongue(line: str) -> str:
    """The code of the language that most speaks for, or "" where none or several do."""
    text = line[:_BEGINNING].lower().replace("’", "'")
    signs = set(_WORD.findall(text))
    if not text.isascii():
        signs.update(f"'{letter}" for letter in text if not letter.isascii())
    scores = {"": 0.0}
    for sign in signs:
        for language, weight in _WEIGHTS.get(sign, ()):
            scores[language] = scores.get(language, 0.0) + weight
    most = max(scores.values())
    best = [language for language, score in scores.items() if score == most]
    return best[0] if len(best) == 1 else ""


@lru_cache(maxsize=20_000)
def writing(letter: str) -> str:
    """The writing of a letter as Unicode names it: "LATIN", "CYRILLIC", "CJK", "HIRAGANA"."""
    return unicodedata.name(letter, "").split(" ")[0].split("-")[0]
