"""Activation patching in the Interventions tab: what each activation of the clean sentence restores of its answer in a corrupted one."""

from collections.abc import Mapping, Sequence

import numpy as np

from playground.config import Refusal
from playground.cursor import choices
from playground.features.interventions.query import PatchedSentence, patch_sentence
from playground.features.shared import blocks
from playground.features.shared.figures import theme
from playground.features.shared.figures.graph import short
from playground.features.shared.heads import draw_map
from playground.features.shared.view import View, texts, tokens
from playground.inspection.interventions import PARTS, HeadId
from playground.inspection.patching import SUBLAYERS, make_hook
from playground.words import paragraph

RESTORED = 0.5  # of the logit difference: from here on an activation has arrived


def list_changes(view: View) -> tuple[str, ...]:
    """Lists what can be changed: a decoder-only model has no cross-attention with rows of its own."""
    return tuple(change for change in choices("change") if change != "row" or not view.run.experiment.model.alteration.decoder_only)


def build_panel(view: View) -> dict:
    """Builds the pictures of all patches at one step, and the choice of the corrupted sentence and the step."""
    try:
        result = patch_sentence(view.reader, view.run, view.step, view.text, view.field("corrupted"), view.number("q"))
    except Refusal as refusal:
        reason = blocks.text("patch-reason", refusal.say(view.language), css="pg-warning")
        return {"step": view.step, "blocks": [*_build_controls(view, view.field("corrupted")), reason]}
    head = _find_best_head(result)
    there = {"tab": "attention", "part": head.part, "layer": head.layer + 1, "head": head.head + 1}
    open_head = blocks.button("patch-there", "move", view.say("interventions.patch_there"), to=there)
    return {
        "step": result.step,
        "blocks": [
            *_build_controls(view, result.corrupted_text, result),
            blocks.compare("patch-sentences", [_build_line(view, result, side) for side in range(2)]),
            blocks.row("patch-result", _build_caption(view, result, head), open_head, css="controls"),
            blocks.row("patch-streams", _draw_source(view, result), _draw_target(view, result), css="halves"),
            blocks.row("patch-heads", *(_draw_heads(view, result, part) for part in _list_parts(result)), css="thirds"),
            _build_sublayers(view, result),
            blocks.code("source", make_hook),
        ],
    }


def _build_controls(view: View, corrupted: str, result: PatchedSentence | None = None) -> list[dict]:
    controls = [
        view.offer("what", "change", "interventions.what", list_changes(view)),
        blocks.field("corrupted", "corrupted", view.say("interventions.patch_corrupted"), corrupted),
    ]
    if result:
        options = [
            {"value": str(at), "label": f"{at + 1}: {clean.text} / {corrupted.text}"} for at, (clean, corrupted) in result.answers.items()
        ]
        controls.append(blocks.choice("patch-step", "q", view.say("interventions.patch_step"), options, str(result.at), tokens=True))
    return [blocks.text("about", view.say("interventions.patch_about"), css="pg-about"), blocks.row("controls", *controls, css="controls")]


def _build_line(view: View, result: PatchedSentence, side: int) -> dict:
    """Builds one of both sentences, its differing tokens framed, with its answer at the step."""
    pieces, other = (result.clean, result.corrupted)[:: 1 - 2 * side]
    marked = [
        token | {"mark": "" if piece.id == rival.id else "new"} for token, piece, rival in zip(tokens(pieces), pieces, other, strict=True)
    ]
    answer = view.say("interventions.patch_answer", answer=result.answers[result.at][side].text)
    label = view.say(f"interventions.patch_{('clean', 'corrupt')[side]}")
    return {"name": "reference", "label": label, "tokens": marked, "verdict": answer, "right": None}


def _list_parts(result: PatchedSentence) -> list[str]:
    """Lists the kinds of heads that the model has."""
    return [part for part in PARTS if part in result.patching.restored]


def _find_best_head(result: PatchedSentence) -> HeadId:
    """Returns the head that alone restores most."""
    restored = result.patching.restored
    return max((_find_best_of(restored, part) for part in _list_parts(result)), key=lambda head: restored[head.part][head.layer, head.head])


def _find_best_of(restored: Mapping[str, np.ndarray], part: str) -> HeadId:
    return HeadId(part, *map(int, np.unravel_index(restored[part].argmax(), restored[part].shape)))


def _name_head(view: View, head: HeadId) -> str:
    return view.say("interventions.head_long", part=view.say(f"interventions.part_{head.part}"), layer=head.layer + 1, head=head.head + 1)


def _build_caption(view: View, result: PatchedSentence, head: HeadId) -> dict:
    clean, corrupted = result.answers[result.at]
    values = {"clean": clean.text, "corrupted": corrupted.text, "step": result.at + 1, "head": _name_head(view, head)}
    share = short(float(result.patching.restored[head.part][head.layer, head.head]))
    sentence = view.say("interventions.patch_caption", share=share, **values)
    return blocks.text("patch-caption", paragraph([sentence, view.step_note(result.step)]), css="pg-caption")


def _draw_source(view: View, result: PatchedSentence) -> dict | None:
    """Draws what the residual stream of the encoder restores, and says which place of the memory restores most."""
    if (values := result.patching.restored.get("source")) is None:
        return None
    at = int(values[-1].argmax())
    caption = view.say("interventions.patch_source_caption", token=result.clean[at].text, place=at + 1, share=short(float(values[-1, at])))
    return _draw_stream(view, "source", "encoder", values, texts(result.clean), caption)


def _draw_target(view: View, result: PatchedSentence) -> dict:
    """Draws what the residual stream of the decoder restores, and says after which layer the last position has it."""
    values = result.patching.restored["target"]
    layer = int((values[:, -1] >= RESTORED).argmax())
    caption = view.say("interventions.patch_target_caption", layer=layer, share=short(float(values[layer, -1])))
    return _draw_stream(view, "target", "decoder", values, texts(result.fed), caption, texts(result.clean))


def _draw_stream(
    view: View, name: str, part: str, values: np.ndarray, columns: list[str], caption: str, source: Sequence[str] = ()
) -> dict:  # fmt: skip
    """Draws one stream; one that is wider than its `columns` goes through the `source` first."""
    rows = [view.say("interventions.patch_embedding"), *map(str, range(1, len(values)))]
    axis = view.say(f"interventions.patch_{name}_tokens")
    if values.shape[1] > len(columns):
        columns, axis = [*source, *columns], view.say("map.axis_joined")
    titles = view.say("interventions.patch_after"), axis
    return _draw(view, f"patch-{name}", part, values, rows, columns, titles, caption, share=2)


def _draw_heads(view: View, result: PatchedSentence, part: str) -> dict:
    values, (_, layer, head) = result.patching.restored[part], _find_best_of(result.patching.restored, part)
    caption = view.say("interventions.patch_best", name=f"{layer + 1}.{head + 1}", share=short(float(values[layer, head])))
    down, at = ([*range(1, size + 1)] for size in values.shape)
    titles = view.say("interventions.patch_layer"), view.say("interventions.patch_head")
    pins = {"fields": ("layer", "head"), "down": down, "at": at, "chosen": view.head(*values.shape)}
    return _draw(view, f"patch-{part}", part, values, [*map(str, down)], [*map(str, at)], titles, caption, share=3, **pins)


def _draw(
    view: View, id: str, part: str, values: np.ndarray, rows: list[str], columns: list[str], titles: tuple[str, str], caption: str,
    **options: object,
) -> dict:  # fmt: skip
    """Draws a heat map from 0 (as corrupted) to 1 (as clean); `options` as of `draw_map`."""
    picture = draw_map(view, values, rows, columns, view.say("interventions.patch_restored"), kind=part, titles=titles, **options)
    return blocks.figure(id, picture, caption, view.say(f"interventions.{id.replace('-', '_')}"))


def _build_sublayers(view: View, result: PatchedSentence) -> dict:
    """Tabulates what the output of each sublayer restores."""
    names, rows = [*_list_parts(result), "feed_forward"], []
    for stack, sublayers in SUBLAYERS.items():
        for layer, values in enumerate(result.patching.restored.get(f"{stack}_sublayers", ()), start=1):
            shares = dict(zip(sublayers, values, strict=True))
            cells = [theme.minus(f"{round(shares[name], 2) + 0:.2f}") if name in shares else "–" for name in names]
            rows.append([view.say(f"interventions.patch_{'encoder' if stack == 'encoder' else 'decoder'}_layer", layer=layer), *cells])
    heads = ["", *(view.say(f"interventions.part_{name}") for name in names)]
    return blocks.table("patch-sublayers", heads, rows, view.say("interventions.patch_sublayers"), rowheads=True)
