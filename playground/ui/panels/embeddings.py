"""Embeddings: what the run has learnt to tell apart. Tokens and states on a plane that moves along the replay; who is near whom."""

from __future__ import annotations

from playground.config import SPECIAL_TOKENS
from playground.cursor import choices
from playground.figures import vectors as pictures
from playground.inspection import vectors as facts
from playground.model.transformer import Transformer
from playground.queries.vectors import STATES, TABLES, Vectors, vectors
from playground.ui import blocks
from playground.ui.view import LARGE, View
from playground.words import listed, paragraph, printed

NEAREST = 8
RINGED = 4
TOGETHER = 30  # tokens in the table of cosines
HUES = {"src": "encoder", "tgt": "decoder", "memory": "encoder", "decoder": "decoder"}


def panel(view: View) -> dict:
    what = view.choice("what", (*TABLES, *STATES))
    look = view.reader.look(view.run, view.step, view.text)
    pair = [piece.id for piece in look.source[:-1]], [piece.id for piece in look.targets]
    found = vectors(view.reader, view.runs.corpora, view.run, view.step, what, pair)
    chosen = _chosen(view, what, found)
    near = facts.nearest(found.vectors, chosen, NEAREST)
    plane, caption = _plane(view, what, found, chosen, near), _caption(view, what, found, chosen, near)
    kinds = [{"value": name, "label": view.say(f"embeddings.{name}"), "hue": HUES[name]} for name in HUES]
    written = [{"value": name, "label": view.say(f"embeddings.by_{name}")} for name in choices("by")]
    states = what in STATES
    return {
        "step": found.step,
        "blocks": [
            blocks.row(
                "choices",
                blocks.choice("what", "what", view.say("embeddings.what"), kinds, what),
                blocks.choice("by", "by", view.say("embeddings.by"), written, view.choice("by")) if states else None,
                css="controls",
            ),
            blocks.text("about", view.say(f"embeddings.{what}_about"), "pg-caption"),
            blocks.row(
                "main",
                blocks.figure("plane", plane, caption, view.say("embeddings.plane"), hint=view.say("embeddings.hint")),
                blocks.column("near", _pick(view, what, found, chosen), _nearest(view, what, found, chosen, near), _code(what)),
                css="large-small",
            ),
            blocks.text("axes", _about_axes(view, found), "pg-about"),
            _cosines(view, what, found, chosen),
        ],
    }


def _code(what: str) -> dict:
    return blocks.code("source", facts.principal_axes if what in TABLES else Transformer.encode if what == "memory" else Transformer.decode)


def _chosen(view: View, what: str, found: Vectors) -> int:
    """The number of the point asked for: of a table by its token's id, of states by its place in the list; else of a table the one that
    `_telling` finds, and of states the sentence's first."""
    asked = view.number("token")
    if found.own:
        return len(found.ids) - found.own if asked is None else min(asked, len(found.ids) - 1)
    return found.ids.index(asked) if asked in found.ids else _telling(view, what, found)


def _telling(view: View, what: str, found: Vectors) -> int:
    """Of the sentence's tokens the one that has the closest neighbour by the run's newest parameters, so that the replay doesn't change
    it; while these are still changing, the first."""
    look = view.reader.look(view.run, None, view.text)
    own = {piece.id for piece in (look.source if what == "src" else look.targets)}
    real = [at for at, id in enumerate(found.ids) if id >= len(SPECIAL_TOKENS)]
    among = [at for at in real if found.ids[at] in own] or real
    if view.run.working:
        return among[0] if among else 0
    newest = vectors(view.reader, view.runs.corpora, view.run, None, what, ([], []))
    return facts.closest(newest.vectors, among, real)


def _plane(view: View, what: str, found: Vectors, chosen: int, near: list[tuple[int, float]]) -> dict:
    cloud = found.vectors[: len(found.ids) - found.own]
    return view.draw(
        pictures.plane,
        found.xy,
        found.names,
        kind=HUES[what],
        limit=found.limit,
        shares=facts.shares(cloud, found.axes).tolist(),
        ids=None if found.own else found.ids,
        places=found.places if found.own else None,
        by_place=view.choice("by") == "place",
        own=found.own,
        chosen=chosen,
        near=[other for other, _ in near[:RINGED]],
        share=LARGE,
        tallest=view.below(60),
    )


def _caption(view: View, what: str, found: Vectors, chosen: int, near: list[tuple[int, float]]) -> str:
    """Who is near the chosen point, what can be said of all of them, and how much of it the plane shows."""
    cloud, said = len(found.ids) - found.own, []
    lines = [_neighbours(view, what, found, chosen, near)]
    if what in TABLES:
        real = [at for at, id in enumerate(found.ids) if id >= len(SPECIAL_TOKENS)]
        said.append(facts.pair_fact(found.vectors[real], [found.names[at] for at in real]))
    else:
        said.append(facts.kinship_fact(found.vectors[:cloud], found.ids[:cloud], found.places[:cloud]))
    said.append(facts.share_fact(found.vectors[:cloud], found.axes))
    lines += [view.say(fact.key, **fact.values) for fact in said if fact]
    return paragraph([*lines, view.step_note(found.step)])


def _neighbours(view: View, what: str, found: Vectors, chosen: int, near: list[tuple[int, float]]) -> str:
    """The three nearest to the chosen point, by name."""
    named = [(_name(view, what, found, at), printed(f"{cosine:.2f}")) for at, cosine in near[:3]]
    those = listed(view.language, (view.say("embeddings.neighbour", token=token, cosine=cosine) for token, cosine in named))
    return view.say("embeddings.neighbours", token=_name(view, what, found, chosen), list=those)


def _about_axes(view: View, found: Vectors) -> str:
    """Whose axes they are, and what the rings are."""
    live = found.axes_step is None
    axes = view.say("embeddings.axes_live") if live else view.say("embeddings.axes", step=f"{found.axes_step:,}")
    return f"{axes} {view.say('embeddings.ringed', count=RINGED)}"


def _name(view: View, what: str, found: Vectors, at: int) -> str:
    """A token, and of a state which one of its sentence."""
    return found.names[at] if what in TABLES else view.say("embeddings.state", token=found.names[at], place=found.places[at])


def _pick(view: View, what: str, found: Vectors, chosen: int) -> dict:
    """The tokens of the page's sentence, to choose one without having to hit its point."""
    if found.own:
        first = len(found.ids) - found.own
        options = [{"value": str(at), "label": found.names[at]} for at in range(first, len(found.ids))]
        return blocks.choice("token", "token", view.say("embeddings.token"), options, str(chosen), tokens=True)
    pieces = view.reader.look(view.run, view.step, view.text)
    named = {piece.id: piece.text for piece in (pieces.source if what == "src" else pieces.targets) if piece.id in found.ids}
    options = [{"value": str(id), "label": found.names[found.ids.index(id)]} for id in named]
    return blocks.choice("token", "token", view.say("embeddings.token"), options, str(found.ids[chosen]), tokens=True)


def _nearest(view: View, what: str, found: Vectors, chosen: int, near: list[tuple[int, float]]) -> dict:
    rows = [[_name(view, what, found, other), printed(f"{cosine:.3f}")] for other, cosine in near]
    head = [view.say("embeddings.nearest", token=_name(view, what, found, chosen)), view.say("embeddings.cosine")]
    return blocks.table("nearest", head, rows, rowheads=True, tokens=True)


def _cosines(view: View, what: str, found: Vectors, chosen: int) -> dict:
    """Every two of a small set: of a small table all tokens, of a large one the chosen token's neighbours; of states the sentence's own."""
    if found.own:
        shown, title = range(len(found.ids) - found.own, len(found.ids))[:TOGETHER], "own"
    elif len(found.ids) <= TOGETHER:
        shown, title = range(len(found.ids)), "all"
    else:
        shown, title = [chosen, *[other for other, _ in facts.nearest(found.vectors, chosen, TOGETHER - 1)]], "around"
    matrix = facts.cosines(found.vectors[list(shown)])
    picture = view.draw(pictures.cosines, matrix, [found.names[at] for at in shown], kind=HUES[what])
    fact = facts.spread_fact(matrix)
    return blocks.figure(
        "cosines", picture, view.say(fact.key, **fact.values), view.say(f"embeddings.cosines_{title}", token=found.names[chosen])
    )
