"""The line above every tab: the sentence's tokens, the model's output at this step, whether it is right, and unknown tokens."""

from playground.data.readable import Unknown, find_unknown, replace_word
from playground.features.shared import panels
from playground.features.shared.decoding import default_method
from playground.features.shared.view import View, tokens
from playground.words import listed

MAX_NAMED = 5  # unknown tokens, or runs of known characters; more are counted
MAX_LISTED = 1_000  # known words that the page lists


@panels.declare("sentence")
def panel(view: View) -> dict:
    look = view.reader.look(view.run, view.step, view.text)
    output = look.targets[:-1] if look.finished else look.targets
    right = look.right
    correct = None if look.references is None else look.finished and all(right or ()) and bool(right)
    return {
        "step": look.step,
        "source": tokens(look.source[:-1]),
        "output": tokens(output, right, look.probabilities),
        "correct": correct,
        "references": list(look.references or ()),
        "method": default_method(view.run),
        "note": view.step_note(look.step) or ("" if look.finished else view.say("page.unfinished")),
        "unknown": _describe_unknown(view),
    }


def _describe_unknown(view: View) -> dict | None:
    """Describes the unknown tokens, and the nearest readable sentence, if any. For words also the known words that each might stand for,
    with their sentences, and all known words where they are few."""
    gap = find_unknown(view.run.tokenizers[0], view.text)
    if gap is None:
        return None
    notice = view.say("sentence.unknown", tokens=_join_first(view, gap.tokens), known=_describe_known(view, gap))

    def offer(token: str, word: str) -> dict:
        about = view.say("sentence.instead", word=word, unknown=token)
        return {"word": word, "text": replace_word(view.text, token, word), "about": about}

    named = list(gap.nearest.items())[:MAX_NAMED]
    words = [{"token": token, "nearest": [offer(token, word) for word in nearest]} for token, nearest in named]
    listable = sorted(gap.known, key=str.casefold) if words and len(gap.known) <= MAX_LISTED else []
    return {
        "told": notice,
        "use": gap.readable,
        "label": view.say("sentence.use", text=gap.readable),
        "missing": view.say("sentence.missing") if words else "",
        "words": words,
        "all": view.say("sentence.all_words", count=f"{len(listable):,}") if listable else "",
        "known": listable,
    }


def _describe_known(view: View, gap: Unknown) -> str:
    """Lists the known characters if they are few runs of the alphabet, else counts the vocabulary."""
    if gap.runs and len(gap.runs) <= MAX_NAMED:
        return _join_first(view, [_format_run(view, *run) for run in gap.runs])
    return view.say("sentence.characters" if gap.runs else "sentence.words", count=f"{len(gap.known):,}")


def _format_run(view: View, first: str, last: str) -> str:
    if first == " ":
        return view.say("sentence.space")
    return first if first == last else view.say("sentence.run", first=first, last=last)


def _join_first(view: View, items: tuple[str, ...] | list[str]) -> str:
    """Joins items as "a, b and c"; of many the first few and the number of the rest."""
    few = list(items) if len(items) <= MAX_NAMED else [*items[: MAX_NAMED - 1], view.say("sentence.more", count=len(items) - MAX_NAMED + 1)]
    *first, last = few
    return view.say("sentence.and", before=listed(view.language, first), last=last) if first else last
