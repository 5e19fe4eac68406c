"""The Teacher forcing tab: one sentence with teacher forcing, free running, and free running with one token corrected. Its block: aligned
decodings."""

from itertools import zip_longest
from typing import Literal, TypedDict

from playground.features.shared import blocks, panels
from playground.features.shared.blocks.kind import Token, kind
from playground.features.shared.decoding import draw_attention, draw_likeliest, find_wrong, find_wrong_sentences
from playground.features.shared.figures.tokens import extent, visible
from playground.features.shared.heads import choose_head
from playground.features.shared.queries.results import SentenceTrace
from playground.features.shared.view import View, steps, tokens
from playground.features.teacher_forcing import figure as lenses, votes
from playground.features.teacher_forcing.query import Comparison, compare, read_lens
from playground.inspection import logits
from playground.inspection.logits import top
from playground.words import paragraph, percentage

RIVALS = 5
REPLAY_PARTS = 5  # of the replay; an earlier step is tried at the end of each
SIDE_WIDTH = 420  # px beside the lanes
AROUND, TALLEST = 418, 520  # px: of the window around one lane's step, besides what is around a stage; of its figures at most


class LaneRow(TypedDict):
    name: Literal["fed", "says"]
    label: str
    tokens: list[Token]


class Lane(TypedDict):
    name: str
    verdict: str
    right: bool | None
    fixed: int | None
    rows: list[LaneRow]


@kind
def lanes(id: str, label: str, steps: int, at: int, parted: int | None, parts: str, fixes: str, lanes: list[Lane]):
    """Aligned decodings of one sentence, a column for each of `steps`. `at` is chosen; they diverge at `parted`, as `parts` says; `fixes`
    says that the token of step `fixed` was replaced."""


@panels.declare("teacher_forcing", "use", 2, panels.FORMULA)
def panel(view: View) -> dict:
    comparison = compare(view.reader, view.run, view.step, view.text, view.field("force"), read_correction(view))
    view.look = comparison.free
    steps = max(len(trace.targets) for trace in (comparison.forced, comparison.free, comparison.corrected) if trace)
    at = view.row(steps)
    at = at if at is not None else min(comparison.parted or 0, steps - 1)
    wrong = find_wrong_sentences(view)
    return {
        "step": comparison.step,
        "blocks": [
            blocks.text("about", view.say("teacher_forcing.about"), css="pg-about"),
            *_build_suggestions(view, wrong),
            *_build_compared(view, comparison, at, steps),
            _build_step(view, comparison, at),
            *votes.panel(view, comparison, at),
            *_draw_lens(view, comparison, at),
            blocks.code("source", logits.logit_lens),
        ],
    }


def _build_compared(view: View, comparison: Comparison, at: int, steps: int) -> list[dict]:
    """Builds captions, lanes and controls; side by side where the lanes leave room, so that the step's figures move up."""
    captions = blocks.text("caption", paragraph([*_write_captions(view, comparison), view.step_note(comparison.step)]), css="pg-caption")
    aligned = build_lanes(view, comparison, at, steps)
    force = blocks.field("force", "force", view.say("teacher_forcing.force"), view.field("force"), view.say("teacher_forcing.force_hint"))
    controls = [
        *([] if comparison.free.references else [blocks.text("no-reference", view.say("teacher_forcing.no_reference"), css="pg-warning")]),
        *([] if comparison.forced and not view.field("force") else [force]),
        _build_correction(view, comparison, at),
    ]
    if measure_width(aligned) + SIDE_WIDTH > view.width:
        return [captions, aligned, *controls]
    return [blocks.row("compared", aligned, blocks.column("beside", captions, *controls), css="beside")]


def _build_suggestions(view: View, wrong: list[str] | None) -> list[dict]:
    """Builds the choice of a sentence that goes wrong."""
    if wrong is None:
        return []
    if not wrong:
        return [blocks.row("none-wrong", *_build_earlier(view), css="controls")]
    options = [{"value": text, "label": text} for text in wrong]
    return [blocks.choice("wrong", "text", view.say("teacher_forcing.goes_wrong"), options, view.text)]


def _build_earlier(view: View) -> list[dict]:
    """Builds the notice that no example goes wrong, and a link to an earlier replay step at which the page's sentence, or another, does."""
    notice = view.say("teacher_forcing.none_wrong")
    last = view.run.steps if view.step is None else view.step
    saved_steps = [step for step in view.run.replay.parameter_steps if step < last]
    sentences = sorted(view.examples(), key=lambda pair: pair[0] != view.text)[:6]  # the page's sentence first, if it is an example
    for step in (saved_steps[len(saved_steps) * part // REPLAY_PARTS] for part in range(REPLAY_PARTS - 1, 0, -1) if saved_steps):
        if wrong := find_wrong(view.reader, view.run, step, sentences):
            text = view.text if view.text in wrong else wrong[0]
            notice = paragraph([notice, view.say("teacher_forcing.earlier", step=f"{step:,}", text=text)])
            label, way_there = view.say("teacher_forcing.there", step=f"{step:,}"), {"step": step, "text": text}
            return [blocks.text("none-wrong-said", notice, css="pg-caption"), blocks.button("earlier", "move", label, to=way_there)]
    return [blocks.text("none-wrong-said", notice, css="pg-caption")]


def _write_captions(view: View, comparison: Comparison) -> list[str]:
    """Writes where the decodings diverge, whether the correction helped, and both measures on all held-out sentences."""
    notes = []
    if comparison.parted is not None:
        forced, free = comparison.forced, comparison.free
        forced_token = forced.targets[comparison.parted].text if comparison.parted < len(forced.targets) else "–"
        free_token = free.targets[comparison.parted].text if comparison.parted < len(free.targets) else "–"
        forced_right = [token["right"] for token in list_predictions("forced", forced)[comparison.parted + 1 :]]
        notes.append(view.say("teacher_forcing.parted", step=comparison.parted + 1, wrote=free_token, right=forced_token))
        if forced_right:
            free_right = sum(comparison.free.right[comparison.parted + 1 :])
            notes.append(view.say("teacher_forcing.after", forced=sum(forced_right), own=free_right, all=len(forced_right)))
    elif comparison.forced:
        notes.append(view.say("teacher_forcing.together"))
    correction = read_correction(view)
    if comparison.corrected and correction and not is_correction_right(view, comparison):
        notes.append(
            view.say("teacher_forcing.still_wrong", step=correction[0] + 1, token=comparison.corrected.targets[correction[0]].text)
        )
    elif comparison.corrected and correction:
        if comparison.recovered is not None:
            notes.append(view.say("teacher_forcing.recovered", step=correction[0] + 1, since=comparison.recovered + 1))
        elif comparison.forced:
            notes.append(view.say("teacher_forcing.not_recovered", step=correction[0] + 1))
    measured = _write_measures(view, comparison.step)
    return [*notes, *([measured] if measured else [])]


def _write_measures(view: View, at: int) -> str:
    """Writes token accuracy and exact match on the held-out split at this step: a token is easier to get right when all before it are."""
    rows = view.run.history.validations.rows()
    before = [row for row, step in enumerate(rows["step"]) if step <= at]
    if not before:
        return ""
    row = before[-1]
    tokens_right, sentences_right = (percentage(rows[name][row]) for name in ("token_accuracy", "exact_match"))
    pairs, every = int(rows["pairs"][row]), int(rows["all_pairs"][row])
    key, of = ("teacher_forcing.measured", {}) if pairs == every else ("teacher_forcing.measured_sample", {"all": every})
    return view.say(key, step=int(rows["step"][row]), tokens=tokens_right, sentences=sentences_right, pairs=pairs, **of)


def _build_correction(view: View, comparison: Comparison, at: int) -> dict:
    """Builds the choice of a token to write at this step instead: the likeliest ones and the right one."""
    free = comparison.free
    at = min(at, len(free.targets) - 1)
    options = {likely.id: likely.text for likely in free.likely[at]}  # their probabilities are drawn below
    if comparison.forced and at < len(comparison.forced.targets):
        options.setdefault(comparison.forced.targets[at].id, comparison.forced.targets[at].text)
    options.pop(free.targets[at].id, None)
    chosen_fix = view.field("fix") if comparison.corrected else ""
    choices = [{"value": "", "label": view.say("teacher_forcing.as_written", token=free.targets[at].text)}]
    choices += [{"value": f"{at}:{id}", "label": text} for id, text in options.items()]
    return blocks.choice("fix", "fix", view.say("teacher_forcing.correct", step=at + 1), choices, chosen_fix, tokens=True)


def _build_step(view: View, comparison: Comparison, at: int) -> dict:
    """Builds the chosen step of every lane: its likeliest tokens, and the weights of cross-attention."""
    columns = []
    traces = {name: trace for name, trace in list_traces(comparison).items() if at < len(trace.targets)}
    is_alone, share = len(traces) == 1, max(len(traces), 2)
    tall = min(view.remaining_height(AROUND), TALLEST) if is_alone else 0  # its two figures side by side have the rest of the window
    view.look = comparison.free
    layer, head = choose_head(view, "cross")
    for name, trace in traces.items():
        view.look = trace
        first = trace.likely[at][0]
        attention, attention_caption = draw_attention(view, trace, at, layer, head, share, tall)
        text = view.say("teacher_forcing.likely_caption", fed=trace.fed[at].text, token=first.text, percent=percentage(first.probability))
        title = view.say("page.likely" if is_alone else "teacher_forcing.likely", lane=view.say(f"teacher_forcing.{name}"), step=at + 1)
        likely = blocks.figure(f"likely-{name}", draw_likeliest(view, trace, at, share, tall), text, title)
        looks = blocks.figure(f"looks-{name}", attention, attention_caption, view.say("page.looks") if is_alone else "")
        columns += [likely, looks] if is_alone else [blocks.column(f"step-{name}", likely, looks)]
    view.look = comparison.free
    return blocks.row("step", *columns, css="thirds" if share > 2 else "halves")


def _draw_lens(view: View, comparison: Comparison, at: int) -> list[dict]:
    """Draws each layer's predictions, with teacher forcing if the page feeds the reference, else free running."""
    is_forced = view.reference and comparison.forced is not None
    trace = comparison.forced if is_forced else comparison.free
    predictions = read_lens(view.reader, view.run, view.step, view.text, [piece.id for piece in trace.targets])
    piece_of = view.run.tokenizers[1].piece
    rivals = [[", ".join(f"{piece_of(id)} {p:.2f}" for id, p in top(row, RIVALS)) for row in layer] for layer in predictions]
    layers = [view.say("teacher_forcing.lens_start"), *(view.say("teacher_forcing.lens_row", layer=n) for n in range(1, len(predictions)))]
    picture = view.draw(
        lenses.grid,
        predictions.max(axis=-1),
        [[piece_of(int(id)) for id in row] for row in predictions.argmax(axis=-1)],
        layers,
        steps(trace),
        rivals=rivals,
        decided=logits.decided(predictions).tolist(),
        pinned=at,
    )
    fact = logits.lens_fact(predictions)
    norms = dict.fromkeys(("none", view.run.experiment.model.norm))
    caption = paragraph([view.say(fact.key, **fact.values), *(view.say(f"teacher_forcing.lens_{norm}") for norm in norms)])
    names = {"output": "free", "reference": "forced"}
    feeds = [{"value": value, "label": view.say(f"teacher_forcing.{name}")} for value, name in names.items()]
    feed_choice = blocks.choice("feed", "target", view.say("teacher_forcing.lens_of"), feeds, "reference" if is_forced else "output")
    return [blocks.figure("lens", picture, caption, view.say("teacher_forcing.lens")), *([feed_choice] if comparison.forced else [])]


# ---- lanes: decodings of one sentence, stacked, with a column for each step that holds the fed token and the predicted one ----

CHIP, NAMES = 32, 96  # px: a column's padding around its token, and the row names


def read_correction(view: View) -> tuple[int, int] | None:
    """Reads the correction from the link: (step, token id)."""
    step, _, token = view.field("fix").partition(":")
    return (int(step), int(token)) if token else None


def is_correction_right(view: View, comparison: Comparison) -> bool:
    """Returns whether the corrected token is right, as far as a reference is known."""
    correction = read_correction(view)
    return not (comparison.corrected and correction and comparison.corrected.right and not comparison.corrected.right[correction[0]])


def list_traces(comparison: Comparison) -> dict[str, SentenceTrace]:
    """Lists the decodings by name; free running and teacher forcing as one where they are the same."""
    is_same = comparison.forced and comparison.parted is None
    names = {"both": "free"} if is_same else {"forced": "forced", "free": "free"}
    return {name: trace for name, of in {**names, "corrected": "corrected"}.items() if (trace := getattr(comparison, of))}


def build_lanes(view: View, comparison: Comparison, at: int, steps: int) -> dict:
    return lanes(
        "lanes",
        view.say("teacher_forcing.step"),
        steps,
        at,
        comparison.parted,
        parts=view.say("teacher_forcing.parts_here"),
        fixes=view.say("teacher_forcing.corrected_here" if is_correction_right(view, comparison) else "teacher_forcing.changed_here"),
        lanes=[_build_lane(view, name, trace) for name, trace in list_traces(comparison).items()],
    )


def _build_lane(view: View, name: str, trace: SentenceTrace) -> dict:
    """Builds the fed and the predicted tokens; with teacher forcing the likeliest token counts as predicted, not the reference."""
    predictions, correction = list_predictions(name, trace), read_correction(view)
    fed = tokens(trace.fed)
    if name != "forced" and trace.right is not None:  # the model's mistakes become its input
        fed = [fed[0], *({**token, "right": right} for token, right in zip(fed[1:], trace.right, strict=False))]
    return {
        "name": view.say(f"teacher_forcing.{name}"),
        "verdict": _write_verdict(view, trace, predictions),
        "right": all(token.get("right", True) for token in predictions) if trace.right is not None else None,
        "fixed": correction[0] if name == "corrected" and correction else None,
        "rows": [
            {"name": "fed", "label": view.say("teacher_forcing.fed"), "tokens": fed},
            {"name": "says", "label": view.say("teacher_forcing.says"), "tokens": predictions},
        ],
    }


def list_predictions(name: str, trace: SentenceTrace) -> list[dict]:
    if name != "forced":
        return tokens(trace.targets, trace.right, trace.probabilities)
    likeliest = [row[0] for row in trace.likely]
    return [
        {"text": visible(token.text), "id": token.id, "known": True, "right": token.id == wanted.id, "p": token.probability}
        for token, wanted in zip(likeliest, trace.targets, strict=True)
    ]


def _write_verdict(view: View, trace: SentenceTrace, predictions: list[dict]) -> str:
    if trace.right is None:
        return ""
    right = sum(token["right"] for token in predictions)
    return view.say("teacher_forcing.right_tokens", right=right, all=len(predictions))


def measure_width(lanes: dict) -> float:
    """Estimates the width of the lanes in px."""
    rows = [[extent(token["text"]) for token in row["tokens"]] for lane in lanes["lanes"] for row in lane["rows"]]
    return NAMES + sum(CHIP + max(column) for column in zip_longest(*rows, fillvalue=0.0))
