"""The Embeddings tab: tokens and states projected onto a plane along the replay, nearest neighbours, and cosines."""

from playground.config import SPECIAL_TOKENS
from playground.features.embeddings import figure as pictures
from playground.features.embeddings.query import STATES, TABLES, Vectors, vectors
from playground.features.shared import blocks, panels
from playground.features.shared.view import LARGE, View
from playground.inspection import vectors as facts
from playground.model.transformer import Transformer
from playground.variants.decoder_only import DecoderOnly
from playground.words import listed, paragraph, printed

RINGED = 4  # neighbours of the chosen point
MAX_COSINES = 30  # tokens in the matrix of cosines
HUES = {"src": "encoder", "tgt": "decoder", "memory": "encoder", "decoder": "decoder"}


@panels.declare("embeddings", "inside", 5, panels.FORMULA)
def panel(view: View) -> dict:
    is_joint = view.run.experiment.model.alteration.decoder_only  # whose memory is keys and values
    kinds = [kind for kind in HUES if kind != "memory" or not is_joint]
    kind = view.choice("what", kinds)
    look = view.reader.look(view.run, view.step, view.text)
    sentence_ids = [piece.id for piece in look.source[:-1]], [piece.id for piece in look.targets]
    points = vectors(view.reader, view.runs.corpora, view.run, view.step, kind, sentence_ids)
    chosen = _choose_point(view, kind, points)
    near = facts.nearest(points.vectors, chosen, RINGED)
    plane, caption = _draw_plane(view, kind, points, chosen, near), _write_caption(view, kind, points, chosen, near)
    options = [{"value": name, "label": view.say(f"embeddings.{name}"), "hue": HUES[name]} for name in kinds]
    of_states = Transformer.encode if kind == "memory" else DecoderOnly.decode if is_joint else Transformer.decode
    source = of_states if kind in STATES else facts.principal_axes
    return {
        "step": points.step,
        "blocks": [
            blocks.row(
                "main",
                blocks.column(
                    "picture", blocks.figure("plane", plane, caption, view.say("embeddings.plane"), hint=view.say("embeddings.hint"))
                ),
                blocks.column(
                    "near",
                    blocks.choice("what", "what", view.say("embeddings.what"), options, kind),
                    view.offer("by", "by", "embeddings.by") if kind in STATES else None,
                    _build_token_choice(view, kind, points, chosen),
                ),
                css="stage",
            ),
            blocks.text("axes", _describe_axes(view, points), "pg-about"),
            _draw_cosines(view, kind, points, chosen),
            blocks.code("source", source),
        ],
    }


def _choose_point(view: View, kind: str, points: Vectors) -> int:
    """Returns the index of the chosen point: by token id in a table, by place in a list of states; by default the token of
    `_find_telling_token`, or the sentence's first state."""
    token = view.number("token")
    if points.own:
        return len(points.ids) - points.own if token is None else min(token, len(points.ids) - 1)
    return points.ids.index(token) if token in points.ids else _find_telling_token(view, kind, points)


def _find_telling_token(view: View, kind: str, points: Vectors) -> int:
    """Returns the sentence's token with the closest neighbour by the newest parameters, hence the same along the replay; during training
    the first."""
    look = view.reader.look(view.run, None, view.text)
    sentence_ids = {piece.id for piece in (look.source if kind == "src" else look.targets)}
    proper = [at for at, id in enumerate(points.ids) if id >= len(SPECIAL_TOKENS)]
    candidates = [at for at in proper if points.ids[at] in sentence_ids] or proper
    if view.run.working:
        return candidates[0] if candidates else 0
    newest = vectors(view.reader, view.runs.corpora, view.run, None, kind, ([], []))
    return facts.closest(newest.vectors, candidates, proper)


def _draw_plane(view: View, kind: str, points: Vectors, chosen: int, near: list[tuple[int, float]]) -> dict:
    cloud = points.vectors[: len(points.ids) - points.own]
    return view.draw(
        pictures.plane,
        points.xy,
        points.names,
        kind=HUES[kind],
        limit=points.limit,
        shares=facts.shares(cloud, points.axes).tolist(),
        ids=None if points.own else points.ids,
        places=points.places if points.own else None,
        by_place=view.choice("by") == "place",
        own=points.own,
        chosen=chosen,
        near=[other for other, _ in near],
        **(view.stage or {"share": LARGE, "tallest": view.below(60)}),
    )


def _write_caption(view: View, kind: str, points: Vectors, chosen: int, near: list[tuple[int, float]]) -> str:
    """Writes the chosen point's neighbours, a fact about all points, the variance that the plane shows, and what they are."""
    cloud, statements = len(points.ids) - points.own, []
    lines = [_name_neighbours(view, kind, points, chosen, near)]
    if kind in TABLES:
        proper = [at for at, id in enumerate(points.ids) if id >= len(SPECIAL_TOKENS)]
        statements.append(facts.pair_fact(points.vectors[proper], [points.names[at] for at in proper]))
    else:
        statements.append(facts.kinship_fact(points.vectors[:cloud], points.ids[:cloud], points.places[:cloud]))
    statements.append(facts.share_fact(points.vectors[:cloud], points.axes))
    lines += [view.say(fact.key, **fact.values) for fact in statements if fact]
    return paragraph([*lines, view.say(f"embeddings.{kind}_about"), view.step_note(points.step)])


def _name_neighbours(view: View, kind: str, points: Vectors, chosen: int, near: list[tuple[int, float]]) -> str:
    """Names the nearest neighbours of the chosen point, states as their hover boxes do."""
    names = points.names if kind in TABLES else pictures.name_states(points.names, points.places)
    named = [(names[at], printed(f"{cosine:.2f}")) for at, cosine in near]
    neighbours = listed(view.language, (view.say("embeddings.neighbour", token=token, cosine=cosine) for token, cosine in named))
    return view.say("embeddings.neighbours", token=_name_point(view, kind, points, chosen), list=neighbours)


def _describe_axes(view: View, points: Vectors) -> str:
    """Describes the step at which the axes were computed, and the rings."""
    is_live = points.axes_step is None
    axes = view.say("embeddings.axes_live") if is_live else view.say("embeddings.axes", step=f"{points.axes_step:,}")
    return f"{axes} {view.say('embeddings.ringed', count=RINGED)}"


def _name_point(view: View, kind: str, points: Vectors, at: int) -> str:
    """Names a token; a state with its place in the sentence."""
    return points.names[at] if kind in TABLES else view.say("embeddings.state", token=points.names[at], place=points.places[at])


def _build_token_choice(view: View, kind: str, points: Vectors, chosen: int) -> dict:
    """Builds the choice of a token of the page's sentence, for points that are hard to hit."""
    if points.own:
        first = len(points.ids) - points.own
        labels, value = {at: points.names[at] for at in range(first, len(points.ids))}, chosen
    else:
        pieces = view.reader.look(view.run, view.step, view.text)
        ids = [piece.id for piece in (pieces.source if kind == "src" else pieces.targets) if piece.id in points.ids]
        labels, value = {id: points.names[points.ids.index(id)] for id in ids}, points.ids[chosen]
    options = [{"value": str(number), "label": label} for number, label in labels.items()]
    return blocks.choice("token", "token", view.say("embeddings.token"), options, str(value), tokens=True)


def _draw_cosines(view: View, kind: str, points: Vectors, chosen: int) -> dict:
    """Draws all cosines of a small table, of the chosen token's neighbours in a large one, or of the sentence's states."""
    if points.own:
        indices, title = range(len(points.ids) - points.own, len(points.ids))[:MAX_COSINES], "own"
    elif len(points.ids) <= MAX_COSINES:
        indices, title = range(len(points.ids)), "all"
    else:
        indices, title = [chosen, *[other for other, _ in facts.nearest(points.vectors, chosen, MAX_COSINES - 1)]], "around"
    matrix = facts.cosines(points.vectors[list(indices)])
    picture = view.draw(pictures.cosines, matrix, [points.names[at] for at in indices], kind=HUES[kind])
    fact = facts.spread_fact(matrix)
    return blocks.figure(
        "cosines", picture, view.say(fact.key, **fact.values), view.say(f"embeddings.cosines_{title}", token=points.names[chosen])
    )
