"""Scores: how good the run is on sentences it never saw, how far beyond its training that reaches, and what it gets wrong."""

from __future__ import annotations

from playground.figures import lengths as pictures
from playground.inspection.lengths import exact_facts, line_fact, token_facts
from playground.queries import evaluation
from playground.queries.evaluation import Mistake, Scores, score_upload, scores
from playground.queries.lengths import REACH, Lengths, lengths
from playground.reading.uploads import Pairs
from playground.runs.run import Run
from playground.ui import blocks, compare
from playground.ui.measured import measured, share_of
from playground.ui.panels.translate import beam_controls
from playground.ui.upload import uploading
from playground.ui.view import View, tokens
from playground.words import listed, paragraph

METHODS = ("greedy", "beam")  # of decoding: what is drawn at random says less of a model, and something else each time


def panel(view: View) -> dict:
    sizes, file = view.reader.sizes(view.run), _file(view)
    if file:
        sizes = sizes | {"file": min(len(file.references), evaluation.MAX_OF_A_FILE)}
    splits = tuple(name for name in (*evaluation.SPLITS, "file") if sizes.get(name))
    split = view.choice("split", splits)
    method, penalty = view.choice("method", METHODS), view.number("penalty")
    width = view.number("beam") if method == "beam" else 1
    asked = (view.reader, view.runs.corpora, view.run, view.step)
    found = score_upload(*asked, view.field("file"), file, width, penalty) if split == "file" else scores(*asked, split, width, penalty)
    more = found.sentences < found.total or not (found.evaluated.whole or view.run.working)
    options = [{"value": name, "label": view.say(f"page.split_{name}", count=f"{sizes[name]:,}")} for name in splits]
    numbers = [
        blocks.row("controls", *_controls(view, options, split, method, width, penalty), css="controls"),
        *([_progress(view, found.sentences, found.total)] if more else []),
        *([blocks.button("stop", "move", view.say("evaluation.stop"), to={"split": "heldout"})] if more and split == "file" else []),
        _table(view, found),
        blocks.text("scores-caption", paragraph([*_captions(view, found, split, width), view.step_note(found.step)]), "pg-caption"),
    ]
    pictures = [] if more else [blocks.later("reach", "reach", view.say("evaluation.waiting"), _asked(view, found))]
    return {
        "step": found.step,
        "more": more,
        "blocks": [
            blocks.row("found", blocks.column("numbers", *numbers), blocks.column("pictures", *pictures), css="halves"),
            *([] if more else _mistakes(view, found)),
            blocks.code("source", evaluation.measure),
        ],
    }


def _file(view: View) -> Pairs | None:
    """The upload that the run is to be scored on, while it is known."""
    return uploading.found(view.runs, view.field("file"), uploading.ticket_of(view.token))


def _controls(view: View, splits: list[dict], split: str, method: str, width: int, penalty: float) -> list[dict]:
    """Which sentences, and how they are decoded: as in Translate."""
    methods = [{"value": name, "label": view.say(f"page.method_{name}")} for name in METHODS]
    return [
        blocks.choice("split", "split", view.say("page.split"), splits, split),
        blocks.choice("method", "method", view.say("page.method"), methods, method),
        *(beam_controls(view, width, penalty) if method == "beam" else []),
    ]


def _table(view: View, found: Scores) -> dict:
    """Exact match and token accuracy first; where sentences of words are written, BLEU and its like, which say more of them."""
    judged, cut = found.measured, view.say(f"evaluation.cut_{found.tokenize}")

    def written(value: str, reach: float | None = None) -> str:
        value += f" ± {reach:.1f}" if reach else ""
        return measured(view, value, found.sentences, found.evaluated.of)

    bleu_about = view.say("evaluation.bleu_about", cut=cut, signature=judged.bleu_signature)
    rows = [
        ("exact_match", share_of(view, found.evaluated, "exact_match"), view.say("evaluation.exact_match_about")),
        ("token_accuracy", share_of(view, found.evaluated, "token_accuracy"), view.say("evaluation.token_accuracy_about")),
        ("bleu", written(f"{judged.bleu:.1f}", judged.bleu_reach), bleu_about),
        ("chrf", written(f"{judged.chrf:.1f}", judged.chrf_reach), view.say("evaluation.chrf_about", signature=judged.chrf_signature)),
        ("length_ratio", written(f"{judged.length_ratio:.2f}"), view.say("evaluation.length_ratio_about")),
    ]
    if found.of_words:
        rows = [*rows[2:], *rows[:2]]
    head = [view.say(f"evaluation.{name}") for name in ("score", "value", "what")]
    return blocks.table("scores", head, [[view.say(f"evaluation.{name}"), value, about] for name, value, about in rows], rowheads=True)


def _progress(view: View, tried: int, asked: int) -> dict:
    return blocks.progress("progress", tried, asked, view.say("evaluation.trying", tried=tried, asked=asked))


def _captions(view: View, found: Scores, split: str, beam: int) -> list[str]:
    """What was tried, and what one has to know to read the numbers."""
    count, every, step = found.sentences, f"{found.evaluated.of:,}", f"{found.step:,}"
    how = view.say("evaluation.decoded_greedy") if beam == 1 else view.say("evaluation.decoded_beam", width=beam)
    said = [view.say("evaluation.tried", count=count, all=every, split=view.say(f"evaluation.{split}"), how=how, step=step)]
    if reach := found.measured.bleu_reach:  # neither None nor 0, as where all is right
        low, high = max(found.measured.bleu - reach, 0.0), min(found.measured.bleu + reach, 100.0)
        said.append(view.say("evaluation.trusted", low=f"{low:.1f}", high=f"{high:.1f}", count=count))
    if found.unknown:
        said.append(view.say("evaluation.unknown", count=found.unknown))
    if view.run.working:
        said.append(view.say("evaluation.tried_working"))
    if found.unfinished:
        said.append(view.say("evaluation.unfinished", count=found.unfinished))
    if found.most_references > 1:
        said.append(view.say("evaluation.several", most=found.most_references))
    if found.measured.too_short:
        said.append(view.say("evaluation.too_short"))
    return said


def _asked(view: View, found: Scores) -> str:
    """What the part that comes later depends on."""
    asked = (view.run.id, found.step, *map(view.field, ("compare", "mapped")))
    return " ".join(map(str, (*asked, view.language, view.dark, view.width)))


def reach(view: View) -> dict:
    """One strip for each of the compared runs, and one of them place by place."""
    runs, offered = compare.chosen(view), compare.offered(view)
    names = compare.names(runs, view.language, view.token)
    found = [lengths(view.reader, view.runs.corpora, run, view.step) for run in runs]
    shown = next((at for at, run in enumerate(runs) if run.id == view.field("mapped")), 0)
    exact, counts = [one.reach.exact for one in found], [one.reach.counts for one in found]
    strips = view.draw(pictures.by_length, exact, names, [one.trained for one in found], counts, share=2)
    places = view.draw(pictures.by_place, found[shown].reach.tokens, found[shown].trained, share=2)
    tried, asked = (sum(getattr(one, name) for one in found) for name in ("sentences", "total"))
    more = tried < asked  # what is not yet tried is not yet to be spoken of
    by_length = "" if more else _reach_caption(view, found, names)
    by_place = "" if more else _say_all(view, token_facts(found[shown].reach, found[shown].trained))
    which = [{"value": run.id, "label": name} for run, name in zip(runs, names, strict=True)]
    found_blocks = [
        *([_progress(view, tried, asked)] if more else []),
        blocks.figure("reach", strips, by_length, view.say("evaluation.by_length")),
        _compare(view, runs, offered, longer=bool(found[0].reach.counts[found[0].trained[1] :].any())),
        *([blocks.choice("mapped", "mapped", view.say("evaluation.mapped"), which, runs[shown].id)] if len(runs) > 1 else []),
        blocks.figure("places", places, by_place, view.say("evaluation.by_place")),
    ]
    return {"step": found[0].step, "more": more, "blocks": found_blocks}


def _compare(view: View, runs: list[Run], offered: list[Run], longer: bool) -> dict:
    """Other runs of the same task to put beside this one; or the way to one that may differ, where there are sentences `longer` than in
    training."""
    if not offered and not longer:
        return blocks.text("compare-alone", view.say("evaluation.alone"), "pg-caption")
    if not offered:
        return blocks.row(
            "compare-none",
            blocks.text("compare-alone", paragraph([view.say("evaluation.alone"), view.say("evaluation.encodings_differ")]), "pg-caption"),
            blocks.button("compare-try", "knob", view.say("evaluation.try_positions"), knob="positions"),
            css="controls",
        )
    named = compare.names([view.run, *offered], view.language, view.token)[1:]
    options = [{"value": run.id, "label": name} for run, name in zip(offered, named, strict=True)]
    return blocks.many("compare", "compare", view.say("evaluation.compare"), options, [run.id for run in runs[1:]])


def _reach_caption(view: View, found: list[Lengths], names: list[str]) -> str:
    first = found[0]
    lines = [_say_all(view, exact_facts(first.reach, first.trained))]
    if len(found) > 1:
        facts = [line_fact(one.reach, one.trained) for one in found]
        lines = [view.say(fact.key, name=name, **fact.values) for name, fact in zip(names, facts, strict=True)]
    if first.generated:
        how = view.say("evaluation.lengths_made", each=int(max(first.reach.counts)), times=REACH)
    else:
        how = view.say("evaluation.lengths_existing")
    return "\n".join([*lines, how])


def _say_all(view: View, facts: list) -> str:
    return paragraph(view.say(fact.key, **{name: _listed(view, value) for name, value in fact.values.items()}) for fact in facts)


def _listed(view: View, value: object) -> object:
    return listed(view.language, value) if isinstance(value, tuple) else value


def _mistakes(view: View, found: Scores) -> list[dict]:
    """Some wrong outputs; a press on one makes it the page's sentence."""
    if not found.wrong:
        return [blocks.text("mistakes-none", view.say("evaluation.no_mistakes", count=found.sentences), "pg-caption")]
    return [
        blocks.text("mistakes", view.say("evaluation.mistakes", shown=len(found.mistakes), wrong=found.wrong), "pg-heading"),
        *(_mistake(view, at, mistake) for at, mistake in enumerate(found.mistakes)),
    ]


def _mistake(view: View, at: int, mistake: Mistake) -> dict:
    lines = [
        {"label": view.say("page.output"), "tokens": tokens(mistake.output, mistake.right), "side": ""},
        {"label": view.say("page.reference"), "tokens": tokens(mistake.reference), "side": ""},
    ]
    to = {"text": mistake.source}
    return blocks.row(
        f"mistake-{at}",
        blocks.button(f"look-{at}", "move", mistake.source, to=to),
        blocks.chips(f"wrong-{at}", *lines),
        css="pg-mistake",
    )
