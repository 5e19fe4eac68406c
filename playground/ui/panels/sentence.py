"""The line that is always there: the sentence in pieces, what the model makes of it at this step, and whether that is right."""

from __future__ import annotations

from playground.ui.view import View, tokens


def panel(view: View) -> dict:
    look = view.reader.look(view.run, view.step, view.text)
    output = look.asked[:-1] if look.finished else look.asked
    right = look.right
    correct = None if look.references is None else look.finished and all(right or ()) and bool(right)
    return {
        "step": look.step,
        "source": tokens(look.source[:-1]),
        "output": tokens(output, right, look.probabilities),
        "correct": correct,
        "references": list(look.references or ()),
        "note": view.step_note(look.step) or ("" if look.finished else view.say("page.unfinished")),
    }
