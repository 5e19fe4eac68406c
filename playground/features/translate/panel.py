"""The Translate tab: all decoding methods, each step's likeliest tokens, and their cost. The greedy output is above the tab."""

from dataclasses import replace

from playground.config import MAX_POSITIONS, UNK, Refusal
from playground.cursor import choices
from playground.decoding import Constraints, greedy, sample, search, top_k_top_p_filter
from playground.features.shared import blocks, decoding, panels
from playground.features.shared.figures import graph
from playground.features.shared.heads import build_view_choice, choose_head, draw_threads
from playground.features.shared.queries.results import Candidate, SentenceTrace
from playground.features.shared.view import View, tokens
from playground.features.translate import query, steps as decoding_steps
from playground.features.translate.price_query import CACHES, LENGTHS, Price, compute_price
from playground.features.translate.query import METHODS, DecodingOptions, Translation
from playground.model.kv_cache import KVCache
from playground.words import listed, percentage

WARM = 2.0  # temperature suggested when all outputs are the same
ABOVE = 570  # px: above the bars of a step and below them, beyond what is around a stage
SOURCES = {"greedy": greedy, "beam": search, "sample": sample}


@panels.declare("translate", "use", 1)
def panel(view: View) -> dict:
    method = decoding.choose_method(view, METHODS)
    words = {name: tuple(view.field(name).split()) for name in ("must", "must_not")} if method == "beam" else {}
    options = DecodingOptions(
        method=method,
        width=view.number("beam"),
        length_penalty=view.number("penalty"),
        temperature=view.number("temperature"),
        top_k=view.number("top_k"),
        top_p=view.number("top_p"),
        seed=view.number("draw"),
        prefix=view.field("prefix"),
        cache=view.choice("cache") == "on",
        copy_unknown=view.choice("unknown") == "copy",
        **words,
    )
    refused = []
    try:
        answer = query.translate(view.reader, view.run, view.step, view.text, options)
    except Refusal as refusal:  # the fields stay on screen, above the search without constraints
        if not refusal.key.startswith("decoding.constraint"):
            raise
        answer = query.translate(view.reader, view.run, view.step, view.text, replace(options, must=(), must_not=()))
        refused.append(blocks.text("refused", refusal.say(view.language), css="pg-warning"))
    best = answer.candidates[0]
    lines = [_build_line(view, answer, at) for at in range(len(answer.candidates))]
    words = (word for candidate in answer.candidates for word in candidate.copied if word is not None)
    copied = list(dict.fromkeys(words))  # from the source, in the order of the outputs
    differs = options.method != "greedy" or answer.prefix or copied  # from the line above the tab
    copied_note = view.say("decoding.copied", words=listed(view.language, copied))
    has_unknown = any(piece.id == UNK for candidate in answer.candidates for piece in candidate.pieces)
    controls, unknown_choice = _build_controls(view, options), view.offer("unknown", "unknown", "decoding.unknown")
    return {
        "step": answer.step,
        "blocks": [
            blocks.row("controls", *controls, unknown_choice if has_unknown else None, _suggest_sentence(view), css="controls"),
            *decoding.build_gain(view),
            *refused,
            *([blocks.chips("candidates", *lines, pick="tgt")] if differs else []),
            *_build_greedy_note(view, best),
            *_build_prefix_notes(view, answer),
            *([blocks.text("copied", copied_note, css="pg-caption")] if copied else []),
            *([blocks.text("verdict", _write_verdict(view, best, answer), css="pg-caption")] if differs or not best.correct else []),
            *(_build_spread(view, options) if options.method == "sample" else []),
            *(decoding_steps.build_verdict_and_tree(view, answer, options) if options.method == "beam" else []),
            _build_step(view, answer, options),
            *([blocks.row("cache", *_build_work(view, answer, options), css="halves")] if view.attends else []),
            *([_build_price(view)] if view.run.experiment.model.alteration.is_built_of_layers else []),
            blocks.code("source", SOURCES[options.method]),
            *([blocks.code("constraints", Constraints)] if answer.free else []),
            *([blocks.code("kept", top_k_top_p_filter)] if options.method == "sample" else []),
            *([blocks.code("cache-source", KVCache)] if view.attends else []),
        ],
    }


def _build_greedy_note(view: View, best: Candidate) -> list[dict]:
    """Notes that the line above the tab is greedy decoding's, when that output differs from this one."""
    greedy_pieces = view.reader.look(view.run, view.step, view.text).targets
    if [piece.id for piece in greedy_pieces] == [piece.id for piece in best.pieces]:
        return []
    return [blocks.text("greedy", view.say("decoding.frame_is_greedy"), css="pg-caption")]


def _suggest_sentence(view: View) -> dict | None:
    """Offers a sentence that is decoded wrong, else the one with the greatest doubt."""
    if view.run.working or view.step is not None:
        return None
    key, text = "teacher_forcing.goes_wrong", next(iter(decoding.find_wrong_sentences(view)), "")
    if not text:
        examples = view.reader.examples(view.run, "heldout", decoding.SEARCHED)
        key, text = "decoding.least_certain", query.find_least_certain(view.reader, view.run, examples)
    return text and blocks.choice("suggested", "text", view.say(key), [{"value": text, "label": text}], view.text)


def _build_controls(view: View, options: DecodingOptions) -> list[dict]:
    controls = [decoding.build_method_choice(view, METHODS, options.method)]
    if options.method == "beam":
        controls += decoding.build_beam_controls(view, options.width, options.length_penalty)
        hint = view.say("decoding.must_hint")
        for name, words in (("must", options.must), ("must_not", options.must_not)):
            controls.append(blocks.field(name, name, view.say(f"decoding.{name}"), " ".join(words), hint))
    if options.method == "sample":
        counts = [{"value": count, "label": view.say("decoding.draw_count", count=count)} for count in choices("draws")]
        controls += [
            blocks.choice("draws", "draws", view.say("decoding.draws"), counts, view.choice("draws")),
            blocks.slider("temperature", "temperature", view.say("page.temperature"), options.temperature),
            blocks.slider("top_k", "top_k", view.say("decoding.top_k"), options.top_k),
            blocks.slider("top_p", "top_p", view.say("decoding.top_p"), options.top_p),
            blocks.field("seed", "draw", view.say("decoding.seed"), str(options.seed)),
            blocks.button("draw", "draw", view.say("page.draw_again")),
        ]
    return [*controls, blocks.field("prefix", "prefix", view.say("decoding.prefix"), options.prefix, view.say("decoding.prefix_hint"))]


def _build_prefix_notes(view: View, answer: Translation) -> list[dict]:
    """Notes the given prefix, and the unknown tokens of prefix and source."""
    join = "".join if view.reader.units(view.run)[1] == "characters" else " ".join
    notes = []
    if answer.prefix:
        text = join(piece.text for piece in answer.prefix)
        notes.append(blocks.text("given", view.say("decoding.given", text=text), css="pg-caption"))
    for id, key, pieces in (("unknown", "page.unknown_words", answer.source), ("unknown-prefix", "decoding.prefix_unknown", answer.prefix)):
        unknown = dict.fromkeys(piece.text for piece in pieces if not piece.known)
        if unknown:
            notes.append(blocks.text(id, view.say(key, words=listed(view.language, unknown)), css="pg-warning"))
    return notes


def _build_line(view: View, answer: Translation, at: int) -> dict:
    candidate, count = answer.candidates[at], len(answer.candidates)
    label = view.say("page.output") if count == 1 else view.say("page.candidate", rank=at + 1, score=f"{candidate.score:.2f}")
    output = tokens(candidate.pieces, candidate.right, candidate.probabilities)
    for token in output[: len(answer.prefix)]:
        token["given"] = True
    for token, word in zip(output, candidate.copied, strict=False):
        if word is not None:
            token |= {"text": word, "copied": True}
    return {"label": label, "tokens": output, "side": "tgt" if at == 0 else ""}


def _write_verdict(view: View, best: Candidate, answer: Translation) -> str:
    if answer.references is None:
        return view.say("page.no_reference")
    if best.right is None:
        return view.say("decoding.no_verdict")
    if best.correct:
        return view.say("page.verdict_right")
    wrong = sum(not right for right in best.right)
    return view.say("page.verdict_wrong", wrong=wrong, tokens=len(best.pieces), reference=" / ".join(answer.references))


def _build_work(view: View, answer: Translation, options: DecodingOptions) -> list[dict]:
    """Builds the cache switch, and the work it saves for this sentence."""
    cached, uncached = answer.cached, answer.uncached
    head = [view.say(f"decoding.work_{key}") for key in ("cache", "positions", "products", *([] if options.cache else ["ms"]))]
    rows = [
        [view.say(f"decoding.cache_{key}"), f"{use.positions:,}", f"{use.multiplications:,}", *([] if options.cache else [f"{use.ms:.1f}"])]
        for key, use in (("on", cached), ("off", uncached))
    ]
    if options.cache:
        caption = view.say("decoding.work_on", times=f"{uncached.multiplications / cached.multiplications:.1f}")
    else:
        caption = view.say("decoding.work_off", same=view.say("decoding.same" if answer.same else "decoding.not_same"))
    return [
        blocks.column(
            "cache-switch",
            view.offer("cache", "cache", "decoding.cache"),
            blocks.text("saved", caption, css="pg-caption"),
        ),
        blocks.table("work", head, rows, rowheads=True),
    ]


def _build_price(view: View) -> dict:
    if view.choice("price") == "off":
        return blocks.button("price", "move", view.say("decoding.price_title"), to={"price": "on"})
    inputs = (view.run.id, view.language, view.dark, view.width)
    return blocks.later("price", "price", view.say("decoding.price_waiting"), " ".join(map(str, inputs)))


def _find_trace(view: View, answer: Translation) -> SentenceTrace:
    """Returns the trace of the best output, without recomputing it when it is the greedy one."""
    pieces = answer.candidates[0].pieces
    greedy = view.reader.look(view.run, view.step, view.text)
    if greedy.targets == pieces and greedy.step == answer.step:
        return greedy
    return query.trace_output(view.reader, view.run, view.step, view.text, tuple(piece.id for piece in pieces))


def _build_step(view: View, answer: Translation, options: DecodingOptions) -> dict:
    """Builds all steps with their likeliest tokens, and one with its cross-attention: by default the first mistake or most hesitation."""
    look = _find_trace(view, answer)
    best, prefix_length, steps = answer.candidates[0], len(answer.prefix), len(look.targets)
    at = view.row(steps)
    at = decoding_steps.find_telling_step(look, best.right, prefix_length) if at is None else at
    view.look = look
    attention_blocks = []
    if view.attends:
        head = choose_head(view, "cross")
        attention, attention_caption = decoding.draw_attention(view, look, at, *head, share=2, tall=view.remaining_height(ABOVE))
        bars = blocks.figure("looks", attention, attention_caption, view.say("page.looks"))
        is_threads = view.choice("view") == "lines"
        attention_blocks = [build_view_choice(view, "step"), *(draw_threads(view, "cross", head) if is_threads else [bars])]
    caption = view.say("decoding.likely_given" if at < prefix_length else "decoding.likely_output", said=look.targets[at].text)
    if options.method == "sample" and at >= prefix_length:
        settings = {"temperature": f"{options.temperature:g}", "top_k": options.top_k or "–", "top_p": f"{options.top_p:g}"}
        caption = f"{caption} {view.say('decoding.drawn_from', **settings)}"
    return blocks.row(
        "step",
        blocks.column("every-step", *decoding_steps.build_table(view, look, prefix_length)),
        blocks.column(
            "one-step",
            blocks.slider("at", "q", view.say("page.at_step"), at, steps - 1, first=1),
            blocks.figure("likely", decoding.draw_likeliest(view, look, at, share=2), caption, view.say("page.likely", step=at + 1)),
            *attention_blocks,
        ),
        css="halves",
    )


def _build_spread(view: View, options: DecodingOptions) -> list[dict]:
    """Builds a table of the different outputs and their counts; nothing when only one is sampled."""
    count = int(view.choice("draws"))
    if count < 2:
        return []
    outputs = query.count_samples(view.reader, view.run, view.step, view.text, options, count)
    marks = {True: "✓", False: "✗", None: "–"}
    rows = [[text or "–", times, f"≈ {percentage(times / count, 0)} %", marks[correct]] for text, times, correct in outputs]
    head = [view.say(f"decoding.spread_{name}") for name in ("output", "times", "share", "right")]
    right = sum(times for _, times, correct in outputs if correct)
    caption = view.say("decoding.spread_said", count=count, different=len(outputs), first=options.seed, last=options.seed + count - 1)
    if any(correct is not None for _, _, correct in outputs):
        caption = f"{caption} {view.say('decoding.spread_correct', right=right, count=count, percent=percentage(right / count, 0))}"
    table = blocks.table("spread", head, rows, view.say("decoding.spread", count=count), tokens=True)
    caption_blocks = [blocks.text("spread-said", caption, css="pg-caption")]
    if len(outputs) == 1 and options.temperature < WARM:
        warmer = f"{WARM:g}"
        caption_blocks.append(blocks.button("warmer", "move", view.say("decoding.warmer", temperature=warmer), to={"temperature": warmer}))
    return [*caption_blocks, table]


@panels.declare("price", needs=panels.FORMULA)
def build_price(view: View) -> dict:
    """Builds three figures over the length: multiply-adds, bytes, and milliseconds beside what the multiply-adds let expect."""
    price = view.reader.work(view.run, 0, ("price",), lambda model, _: compute_price(model))  # the same at every step
    title = blocks.text("price-title", view.say("decoding.price_title"), css="pg-heading")
    return {"step": view.step, "blocks": [title, blocks.row("price", *_draw_figures(view, price), css="thirds")]}


def _draw_figures(view: View, price: Price) -> list[dict]:
    """Draws multiply-adds, bytes, and the measured milliseconds beside those that the multiply-adds let expect."""
    at, timed, totals = LENGTHS.index(MAX_POSITIONS), len(price.ms["cached"]) - 1, price.totals
    shares, fewer = price.operations["attention_cached"] / totals["cached"], totals["uncached"] / totals["cached"]
    saved = price.bytes["weights_uncached"][at] - price.bytes["weights_cached"][at]
    values = {"most": MAX_POSITIONS, "longest": f"{LENGTHS[-1]:,}", "timed": LENGTHS[timed]}
    values |= {"share": percentage(shares[at], 0), "last": percentage(shares[-1], 0), "times": f"{fewer[at]:.0f}"}
    values |= {name: f"{count / 1000:,.0f}" for name, count in (("held", price.bytes["keys_values"][at]), ("saved", saved))}
    values |= {"fewer": f"{fewer[timed]:.0f}"} | {name: f"{ms[-1]:,.0f}" for name, ms in price.ms.items()}
    figures, axis = [], view.say("decoding.price_length")
    for name, lines in (("operations", price.operations), ("bytes", price.bytes), ("ms", price.times)):
        named = {_name_line(view, key): line for key, line in lines.items()}
        picture = view.draw(graph.lines, LENGTHS, named, title=axis, log_x=True, log_y=True, share=3)
        caption, title = view.say(f"decoding.price_{name}_caption", **values), view.say(f"decoding.price_{name}")
        figures.append(blocks.figure(f"price-{name}", picture, caption, title))
    return figures


def _name_line(view: View, key: str) -> str:
    """Names a line of the price: "rest_cached" is that of the rest, with a cache."""
    part, _, cache = key.partition("_")
    name = view.say(f"decoding.price_{part if cache in CACHES else key}")
    return view.say(f"decoding.price_{cache}", line=name) if cache in CACHES else name
