"""Small German: gender, case, negation, questions and verbs at the end; and the example sentence of many tutorials."""

import random

from playground.tasks import Example, Task
from playground.tasks.grammars import Grammar, held_back

# In a main clause the verb comes second, in a clause after "dass", "weil" or "wenn" last: there the alignment crosses.

NOUNS = {
    "m": {"Hund": "dog", "Mann": "man", "König": "king", "Vogel": "bird"},
    "f": {"Frau": "woman", "Katze": "cat", "Königin": "queen", "Ärztin": "doctor"},
    "n": {"Kind": "child", "Pferd": "horse", "Mädchen": "girl", "Schaf": "sheep"},
}
ADJECTIVES = {"klein": "small", "jung": "young", "schlau": "clever", "tapfer": "brave", "müd": "tired"}  # stems, an ending follows
VERBS = (  # ich, er, wir (and the infinitive), participle; English base, third person, participle
    ("sehe", "sieht", "sehen", "gesehen", "see", "sees", "seen"),
    ("höre", "hört", "hören", "gehört", "hear", "hears", "heard"),
    ("suche", "sucht", "suchen", "gesucht", "look for", "looks for", "looked for"),
    ("finde", "findet", "finden", "gefunden", "find", "finds", "found"),
    ("füttere", "füttert", "füttern", "gefüttert", "feed", "feeds", "fed"),
    ("liebe", "liebt", "lieben", "geliebt", "love", "loves", "loved"),
    ("rufe", "ruft", "rufen", "gerufen", "call", "calls", "called"),
    ("male", "malt", "malen", "gemalt", "paint", "paints", "painted"),
    ("frage", "fragt", "fragen", "gefragt", "ask", "asks", "asked"),
    ("besuche", "besucht", "besuchen", "besucht", "visit", "visits", "visited"),
)
ARTICLES = {  # gender and case: the, a, no
    "m.nom": ("der", "ein", "kein"), "m.acc": ("den", "einen", "keinen"),
    "f.nom": ("die", "eine", "keine"), "f.acc": ("die", "eine", "keine"),
    "n.nom": ("das", "ein", "kein"), "n.acc": ("das", "ein", "kein"),
}  # fmt: skip
ENDINGS = {  # of an adjective after "the", and after "a"
    "m.nom": ("e", "er"), "m.acc": ("en", "en"), "f.nom": ("e", "e"), "f.acc": ("e", "e"), "n.nom": ("e", "es"), "n.acc": ("e", "es"),
}  # fmt: skip
PERSONS = {  # German pronouns with their English; have, can, must in both languages; does
    "ich": (("ich = I",), "habe", "have", "kann", "muss", "do"),
    "er": (("er = he", "sie = she"), "hat", "has", "kann", "muss", "does"),
    "wir": (("wir = we",), "haben", "have", "können", "müssen", "do"),
}


def _noun_phrases() -> dict[str, list[str]]:
    """Returns rules for np.CASE (the or a, with or without an adjective), the.CASE (only the), no.acc."""
    rules: dict[str, list[str]] = {f"noun.{gender}": [f"{de} = {en}" for de, en in nouns.items()] for gender, nouns in NOUNS.items()}
    for ending in ("e", "en", "er", "es"):
        rules[f"adjective.{ending}"] = [f"{stem}{ending} = {english}" for stem, english in ADJECTIVES.items()]
    for case in ("nom", "acc"):
        rules[f"the.{case}"], rules[f"a.{case}"], rules[f"no.{case}"] = [], [], []
        for gender in NOUNS:
            (the, a, no), (weak, strong) = ARTICLES[f"{gender}.{case}"], ENDINGS[f"{gender}.{case}"]
            for name, german, english, ending in (("the", the, "the", weak), ("a", a, "a", strong)):
                adjective = f"$adjective.{ending}"
                rules[f"{name}.{case}"] += [
                    f"3: {german} $noun.{gender} = {english}@0 $noun.{gender}",
                    f"{german} {adjective} $noun.{gender} = {english}@0 {adjective} $noun.{gender}",
                ]
            rules[f"no.{case}"] += [f"{no} $noun.{gender} = no@0 $noun.{gender}"]
        rules[f"np.{case}"] = [f"2: $the.{case} = $the.{case}", f"$a.{case} = $a.{case}"]
    return rules


def _clauses() -> dict[str, list[str]]:
    """Returns rules for main and question, whole sentences, and final, a clause with its verb last; one set per person, for agreement."""
    rules: dict[str, list[str]] = {"main": [], "question": [], "final": []}
    for column, (person, (pronouns, has, have, can, must, do)) in enumerate(PERSONS.items()):
        third = person == "er"
        s, v, base = f"$subject.{person}", f"$verb.{person}", f"$base.{person}"
        rules[f"subject.{person}"] = [*pronouns, "8: $np.nom = $np.nom"] if third else [*pronouns]
        rules[f"verb.{person}"] = [f"{verb[column]} = {verb[5 if third else 4]}" for verb in VERBS]
        rules[f"base.{person}"] = [f"{verb[column]} = {verb[4]}" for verb in VERBS]
        weight = 4 if third else 1
        rules["main"] += [
            f"{4 * weight}: {s} {v} $np.acc = {s} {v} $np.acc",
            f"{weight}: heute {v} {s} $np.acc = today@0 {s} {v} $np.acc",
            f"{weight}: {s} {base} $the.acc nicht = {s} {do}@1 not@3 {base} $the.acc",
            f"{weight}: {s} {v} $no.acc = {s} {v} $no.acc",
            f"{weight}: {s} {has} $np.acc $participle = {s} {have}@1 $participle $np.acc",
            f"{weight}: {s} {can} $np.acc $infinitive = {s} can@1 $infinitive $np.acc",
            f"{weight}: {s} {must} $np.acc $infinitive = {s} must@1 $infinitive $np.acc",
        ]
        rules["question"] += [
            f"{2 * weight}: {base} {s} $np.acc ? = {do}@0 {s} {base} $np.acc ?@3",
            f"{weight}: wen {base} {s} ? = who@0 {do}@1 {s} {base} ?@3",
        ]
        rules["final"] += [
            f"{3 * weight}: {s} $np.acc {v} = {s} {v} $np.acc",
            f"{weight}: {s} $the.acc nicht {base} = {s} {do}@3 not@2 {base} $the.acc",
            f"{weight}: {s} $np.acc $participle {has} = {s} {have}@3 $participle $np.acc",
        ]
    rules["question"] += ["4: wer $verb.er $np.acc ? = who@0 $verb.er $np.acc ?@3"]
    rules["participle"] = [f"{verb[3]} = {verb[6]}" for verb in VERBS]
    rules["infinitive"] = [f"{verb[2]} = {verb[4]}" for verb in VERBS]
    return rules


OPENINGS = (
    "ich weiß , dass = I@0 know@1 that@3",
    "er weiß , dass = he@0 knows@1 that@3",
    "wir glauben , dass = we@0 believe@1 that@3",
    "sie glaubt , dass = she@0 believes@1 that@3",
    "ich hoffe , dass = I@0 hope@1 that@3",
    "er sagt , dass = he@0 says@1 that@3",
    "sie sagt , dass = she@0 says@1 that@3",
    "ich lache , weil = I@0 laugh@1 because@3",
    "wir lachen , weil = we@0 laugh@1 because@3",
    "sie lacht , weil = she@0 laughs@1 because@3",
    "er weint , weil = he@0 cries@1 because@3",
    "wir warten , weil = we@0 wait@1 because@3",
)
REACTIONS = (
    "lache ich = I@1 laugh@0",
    "lachen wir = we@1 laugh@0",
    "lacht sie = she@1 laughs@0",
    "weint er = he@1 cries@0",
    "warten wir = we@1 wait@0",
)
GRAMMAR = Grammar(
    {
        "sentence": [
            "2: $main = $main",
            "$question = $question",
            "2: $opening $final = $opening $final",
            "wenn $final , $reaction = when@0 $final ,@2 $reaction",
        ],
        "opening": OPENINGS,
        "reaction": REACTIONS,
        **_noun_phrases(),
        **_clauses(),
    }
)
GENDER_OF = {noun: gender for gender, nouns in NOUNS.items() for noun in nouns}
VERB_OF = {form: verb[2] for verb in VERBS for form in verb[:4]}


def _unseen_triple(src: str) -> bool:
    """Returns whether a sentence has an excluded triple: at most two nouns, subject first, and one verb; pronouns form no triple."""
    words = src.split()
    nouns = [word for word in words if word in GENDER_OF]
    verbs = [VERB_OF[word] for word in words if word in VERB_OF]
    return len(nouns) == 2 and held_back(nouns[0], verbs[0], nouns[1])


def _draw_german(rng: random.Random, harder: bool) -> Example:
    def accepts(example: Example) -> bool:
        nouns = [word for word in example.src.split() if word in GENDER_OF]
        return len(nouns) == len(set(nouns)) and _unseen_triple(example.src) == harder  # subject and object differ

    return GRAMMAR.draw_where(rng, accepts)


GERMAN_ENGLISH = Task("german_english", "words", "words", _draw_german, GRAMMAR.parse, _unseen_triple, place=120)


# One pair to memorise, spelt as it is usually quoted.

BEER_PAIR = Example("ich mochte ein bier", "i want a beer", (0, 1, 2, 3))
BEER = Task(
    "beer",
    "words",
    "words",
    draw=lambda rng, harder: BEER_PAIR,
    answers=lambda src: (BEER_PAIR,) if src == BEER_PAIR.src else (),
    memorised=True,
    place=210,
)
