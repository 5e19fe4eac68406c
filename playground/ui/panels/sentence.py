"""The line that is always there: the sentence in pieces, what the model makes of it at this step, whether that is right, and which of
its tokens the model doesn't know."""

from __future__ import annotations

from playground.data.readable import Unknown, replaced, unknown
from playground.ui.view import View, tokens
from playground.words import listed

NAMED = 5  # unknown tokens, and runs of known characters, that are named one by one


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
        "note": view.step_note(look.step) or ("" if look.finished else view.say("page.unfinished")),
        "unknown": _unknown(view),
    }


def _unknown(view: View) -> dict | None:
    """A sentence about the tokens that the model doesn't know, and the nearest sentence that it does, where there is one. Of words also the
    known ones that each might be, with the sentence that it makes, and where all known ones are listed."""
    found = unknown(view.run.tokenizers[0], view.text)
    if found is None:
        return None
    key = "sentence.unknown_one" if len(found.tokens) == 1 else "sentence.unknown"
    told = view.say(key, tokens=_listed(view, found.tokens), known=_known(view, found))
    words = [
        {"word": word, "text": replaced(view.text, old, word), "about": view.say("sentence.instead", word=word, unknown=old)}
        for old in list(found.nearest)[:NAMED]
        for word in found.nearest[old]
    ]
    return {
        "told": told,
        "use": found.readable,
        "label": view.say("sentence.use", text=found.readable),
        "words": words,
        "all": view.say("sentence.all_words", count=f"{found.size:,}") if found.nearest else "",
    }


def _known(view: View, found: Unknown) -> str:
    """What the model knows: its characters where they are few runs of the alphabet, else how many."""
    if found.runs and len(found.runs) <= NAMED:
        return _listed(view, [_run(view, *run) for run in found.runs])
    return view.say("sentence.characters" if found.runs else "sentence.words", count=f"{found.size:,}")


def _run(view: View, first: str, last: str) -> str:
    if first == " ":
        return view.say("sentence.space")
    return first if first == last else view.say("sentence.run", first=first, last=last)


def _listed(view: View, items: tuple[str, ...] | list[str]) -> str:
    """a, b and c; of many the first few and how many more there are."""
    shown = list(items) if len(items) <= NAMED else [*items[: NAMED - 1], view.say("sentence.more", count=len(items) - NAMED + 1)]
    *before, last = shown
    return view.say("sentence.and", before=listed(view.language, before), last=last) if before else last
