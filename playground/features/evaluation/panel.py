"""The Evaluation tab: scores on sentences the run wasn't trained on, length generalisation, and mistakes."""

from playground.features.evaluation import figure as pictures, query as evaluation
from playground.features.evaluation.lengths_query import REACH, Lengths, exact_facts, lengths, line_fact, missing_facts, token_facts
from playground.features.evaluation.query import Mistake, Scores, score_upload, scores
from playground.features.shared import blocks, naming as compare, panels, uploading
from playground.features.shared.decoding import build_beam_controls, build_gain, build_method_choice, choose_method
from playground.features.shared.view import View, format_share, measured, percent, tokens
from playground.runs.run import Run
from playground.words import listed, paragraph

METHODS = ("greedy", "beam")  # of decoding; a sampled score says less, and varies


@panels.declare("evaluation", "use", 4)
def panel(view: View) -> dict:
    sizes = view.reader.sizes(view.run)
    upload = uploading.find_pairs(view.runs, view.field("file"), uploading.ticket_of(view.token))  # while the server still has it
    if upload:
        sizes = sizes | {"file": min(len(upload.references), evaluation.MAX_OF_A_FILE)}
    splits = tuple(name for name in (*evaluation.SPLITS, "file") if sizes.get(name))
    split = view.choice("split", splits)
    method, penalty = choose_method(view, METHODS), view.number("penalty")
    width = view.number("beam") if method == "beam" else 1
    args = (view.reader, view.runs.corpora, view.run, view.step)
    report = score_upload(*args, view.field("file"), upload, width, penalty) if split == "file" else scores(*args, split, width, penalty)
    more = report.sentences < report.total or not (report.evaluated.whole or view.run.working)
    options = [{"value": name, "label": view.say(f"page.split_{name}", count=f"{sizes[name]:,}")} for name in splits]
    numbers = [
        blocks.row("controls", *_build_controls(view, options, split, method, width, penalty), css="controls"),
        *build_gain(view),
        _build_table(view, report, width),
        blocks.text("scores-caption", paragraph([*_write_captions(view, report, split, width), view.step_note(report.step)]), "pg-caption"),
    ]
    inputs = (view.run.id, report.step, *map(view.field, ("compare", "mapped")), view.language, view.dark, view.width)
    figures = [blocks.later("reach", "reach", view.say("evaluation.waiting"), " ".join(map(str, inputs)))]
    if more:  # in the room of the figures: nothing else moves when it goes
        stop = blocks.button("stop", "move", view.say("evaluation.stop"), to={"split": "heldout"})
        trying = view.say("evaluation.trying", tried=report.sentences, asked=report.total)
        figures = [blocks.progress("progress", report.sentences, report.total, trying), *([stop] if split == "file" else [])]
    return {
        "step": report.step,
        "more": more,
        "blocks": [
            blocks.row("found", blocks.column("numbers", *numbers), blocks.column("pictures", *figures), css="halves"),
            *([] if more else _build_mistakes(view, report)),
            blocks.code("source", evaluation.measure),
        ],
    }


def _build_controls(view: View, splits: list[dict], split: str, method: str, width: int, penalty: float) -> list[dict]:
    """Builds the choices of the split and of the decoding, as in Translate."""
    return [
        blocks.choice("split", "split", view.say("page.split"), splits, split),
        build_method_choice(view, METHODS, method),
        *(build_beam_controls(view, width, penalty) if method == "beam" else []),
    ]


def _build_table(view: View, report: Scores, beam: int) -> dict:
    """Builds the table of scores: exact match and token accuracy first; for sentences of words BLEU and chrF first, which tell more."""
    metrics, tokenization = report.measured, view.say(f"evaluation.cut_{report.tokenize}")

    def annotate(value: str, margin: float | None = None) -> str:
        value += f" ± {margin:.1f}" if margin else ""
        return measured(view, value, report.sentences, report.evaluated.of)

    exact = format_share(view, report.evaluated, "exact_match")  # decoded greedily
    if beam > 1:
        exact = f"{annotate(percent(1 - report.wrong / report.sentences))} ({view.say('page.method_greedy')}: {exact})"
    rows = [
        ("exact_match", exact, view.say("evaluation.exact_match_about")),
        ("token_accuracy", format_share(view, report.evaluated, "token_accuracy"), view.say("evaluation.token_accuracy_about")),
        ("bleu", annotate(f"{metrics.bleu:.1f}", metrics.bleu_reach), view.say("evaluation.bleu_about", cut=tokenization)),
        ("chrf", annotate(f"{metrics.chrf:.1f}", metrics.chrf_reach), view.say("evaluation.chrf_about")),
        ("length_ratio", annotate(f"{metrics.length_ratio:.2f}"), view.say("evaluation.length_ratio_about")),
    ]
    if report.of_words:
        rows = [*rows[2:], *rows[:2]]
    head = [view.say(f"evaluation.{name}") for name in ("score", "value", "what")]
    return blocks.table("scores", head, [[view.say(f"evaluation.{name}"), value, about] for name, value, about in rows], rowheads=True)


def _write_captions(view: View, report: Scores, split: str, beam: int) -> list[str]:
    """Writes the number of sentences tried and the notes needed to read the scores."""
    count, total = report.sentences, f"{report.evaluated.of:,}"
    decoding = view.say("evaluation.decoded_greedy") if beam == 1 else view.say("evaluation.decoded_beam", width=beam)
    sentences = [view.say("evaluation.tried", count=count, all=total, split=view.say(f"evaluation.{split}"), how=decoding)]
    if margin := report.measured.bleu_reach:  # None or 0 (all outputs right) gives no interval
        low, high = max(report.measured.bleu - margin, 0.0), min(report.measured.bleu + margin, 100.0)
        sentences.append(view.say("evaluation.trusted", low=f"{low:.1f}", high=f"{high:.1f}", count=count))
    if report.unknown:
        sentences.append(view.say("evaluation.unknown", count=report.unknown))
    if view.run.working:
        sentences.append(view.say("evaluation.tried_working"))
    if report.unfinished:
        sentences.append(view.say("evaluation.unfinished", count=report.unfinished))
    if report.most_references > 1:
        sentences.append(view.say("evaluation.several", most=report.most_references))
    if report.measured.too_short:
        sentences.append(view.say("evaluation.too_short"))
    return [*sentences, view.say("evaluation.signatures", bleu=report.measured.bleu_signature, chrf=report.measured.chrf_signature)]


@panels.declare("reach", needs=panels.FORMULA)
def build_reach(view: View) -> dict:
    """Builds one strip of exact match by length for each compared run, and one run's token accuracy by position."""
    runs, offered = compare.compared_runs(view), compare.offered_runs(view)
    names = compare.names(runs, view.language, view.token)
    results = [lengths(view.reader, view.runs.corpora, run, view.step) for run in runs]
    mapped = next((at for at, run in enumerate(runs) if run.id == view.field("mapped")), 0)
    exact, counts = [result.reach.exact for result in results], [result.reach.counts for result in results]
    strips = view.draw(pictures.by_length, exact, names, [result.trained for result in results], counts, share=2)
    places = view.draw(pictures.by_place, results[mapped].reach.tokens, results[mapped].trained, share=2)
    tried, total = (sum(getattr(result, name) for result in results) for name in ("sentences", "total"))
    is_alone = not offered and not results[0].reach.counts[results[0].trained[1] :].any()  # another encoding would tell nothing
    more = tried < total  # what the captions say waits until all sentences have been tried
    by_length = by_place = view.say("evaluation.trying", tried=tried, asked=total)
    if not more:
        by_length = paragraph([_write_reach_caption(view, results, names), *([view.say("evaluation.alone")] if is_alone else [])])
        by_place = _write_facts(view, token_facts(results[mapped].reach, results[mapped].trained))
    run_options = [{"value": run.id, "label": name} for run, name in zip(runs, names, strict=True)]
    content = [
        blocks.figure("reach", strips, by_length, view.say("evaluation.by_length")),
        *([] if is_alone else [_build_comparison(view, runs, offered)]),
        *([blocks.choice("mapped", "mapped", view.say("evaluation.mapped"), run_options, runs[mapped].id)] if len(runs) > 1 else []),
        blocks.figure("places", places, by_place, view.say("evaluation.by_place")),
    ]
    return {"step": results[0].step, "more": more, "blocks": content}


def _build_comparison(view: View, runs: list[Run], offered: list[Run]) -> dict:
    """Builds the choice of other runs of this task; else a way to train one."""
    if not offered:
        return blocks.row(
            "compare-none",
            blocks.text("compare-alone", paragraph([view.say("evaluation.alone"), view.say("evaluation.encodings_differ")]), "pg-caption"),
            blocks.button("compare-try", "knob", view.say("evaluation.try_positions"), knob="positions"),
            css="controls",
        )
    run_names = compare.names([view.run, *offered], view.language, view.token)[1:]
    options = [{"value": run.id, "label": name} for run, name in zip(offered, run_names, strict=True)]
    return blocks.many("compare", "compare", view.say("evaluation.compare"), options, [run.id for run in runs[1:]])


def _write_reach_caption(view: View, results: list[Lengths], names: list[str]) -> str:
    first = results[0]
    lines = [_write_facts(view, exact_facts(first.reach, first.trained))]
    if len(results) > 1:
        longest = max(max(len(result.reach.counts), result.trained[1]) for result in results)
        facts = [(line_fact(result.reach, result.trained), missing_facts(result.reach, longest)) for result in results]
        lines = [
            paragraph([view.say(line.key, name=name, **line.values), _write_facts(view, missing)])
            for name, (line, missing) in zip(names, facts, strict=True)
        ]
    if first.generated:
        length_note = view.say("evaluation.lengths_made", each=int(max(first.reach.counts)), times=REACH)
    else:
        length_note = view.say("evaluation.lengths_existing")
    return "\n".join([*lines, length_note])


def _write_facts(view: View, facts: list) -> str:
    def join(value: object) -> object:
        return listed(view.language, value) if isinstance(value, tuple) else value

    return paragraph(view.say(fact.key, **{name: join(value) for name, value in fact.values.items()}) for fact in facts)


def _build_mistakes(view: View, report: Scores) -> list[dict]:
    """Builds some wrong outputs; a click on one makes it the page's sentence."""
    if not report.wrong:
        return [blocks.text("mistakes-none", view.say("evaluation.no_mistakes", count=report.sentences), "pg-caption")]
    return [
        blocks.text("mistakes", view.say("evaluation.mistakes", shown=len(report.mistakes), wrong=report.wrong), "pg-heading"),
        *(_build_mistake(view, at, mistake) for at, mistake in enumerate(report.mistakes)),
    ]


def _build_mistake(view: View, at: int, mistake: Mistake) -> dict:
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
