"""German words with two meanings: a sentence has two right translations, and training shows one of them in seven of ten draws."""

from __future__ import annotations

from playground.tasks.grammars import Grammar, held_back

NOUNS = {  # both meanings have the same gender; the first is more frequent
    "m": {"Hahn": ("rooster", "tap"), "Läufer": ("runner", "rug"), "Schalter": ("switch", "counter"), "Turm": ("tower", "rook")},
    "f": {
        "Bank": ("bank", "bench"), "Birne": ("pear", "bulb"), "Decke": ("blanket", "ceiling"), "Feder": ("feather", "spring"),
        "Karte": ("map", "card"), "Schlange": ("snake", "queue"),
    },
    "n": {"Blatt": ("leaf", "sheet"), "Gericht": ("dish", "court"), "Schloss": ("castle", "lock"), "Tor": ("gate", "goal")},
}  # fmt: skip
USUAL, OTHER = 7, 3  # of ten
VERBS = (  # ich, er, wir; English base and third person
    ("sehe", "sieht", "sehen", "see", "sees"),
    ("suche", "sucht", "suchen", "look for", "looks for"),
    ("finde", "findet", "finden", "find", "finds"),
    ("zeichne", "zeichnet", "zeichnen", "draw", "draws"),
    ("brauche", "braucht", "brauchen", "need", "needs"),
    ("meine", "meint", "meinen", "mean", "means"),
)
ARTICLES = {"m": ("der", "den", "ein", "einen"), "f": ("die", "die", "eine", "eine"), "n": ("das", "das", "ein", "ein")}
DESCRIPTIONS = ("alt = old", "groß = big", "klein = small", "schön = beautiful")


def _rules() -> dict[str, list[str]]:
    rules: dict[str, list[str]] = {"the.nom": [], "a.nom": [], "acc": []}
    for gender, nouns in NOUNS.items():
        the, the_acc, a, a_acc = ARTICLES[gender]
        noun = f"$noun.{gender}"
        weight = len(nouns)  # makes all nouns equally frequent
        rules[noun[1:]] = [f"{n}: {de} = {en}" for de, both in nouns.items() for n, en in zip((USUAL, OTHER), both, strict=True)]
        rules["the.nom"] += [f"{weight}: {the} {noun} = the@0 {noun}"]
        rules["a.nom"] += [f"{weight}: {a} {noun} = a@0 {noun}"]
        rules["acc"] += [f"{weight}: {the_acc} {noun} = the@0 {noun}", f"{weight}: {a_acc} {noun} = a@0 {noun}"]
    return rules


GRAMMAR = Grammar(
    {
        "sentence": [
            "ich $verb.ich $acc = I@0 $verb.ich $acc",
            "4: $third $verb.er $acc = $third $verb.er $acc",
            "wir $verb.wir $acc = we@0 $verb.wir $acc",
            "$the.nom ist $description = $the.nom is@1 $description",
            "das ist $a.nom = that@0 is@1 $a.nom",
            "wo ist $the.nom ? = where@0 is@1 $the.nom ?@3",
        ],
        "third": ["er = he", "sie = she", "das Kind = the@0 child@1", "die Frau = the@0 woman@1", "der Mann = the@0 man@1"],
        "verb.ich": [f"{verb[0]} = {verb[3]}" for verb in VERBS],
        "verb.er": [f"{verb[1]} = {verb[4]}" for verb in VERBS],
        "verb.wir": [f"{verb[2]} = {verb[3]}" for verb in VERBS],
        "description": list(DESCRIPTIONS),
        **_rules(),
    }
)
VERB_OF = {form: verb[2] for verb in VERBS for form in verb[:3]}


def _unseen_pair(src: str) -> bool:
    words = src.split()
    verb = next((VERB_OF[word] for word in words if word in VERB_OF), None)
    return verb is not None and held_back(verb, words[-1])


ONE_TO_MANY = GRAMMAR.make_task("one_to_many", _unseen_pair, place=200)
