"""Decoding, wherever it is shown: one step with its likeliest tokens and cross-attention, a beam's controls, sentences that go wrong, and
outputs before and after a change of the model."""

from collections.abc import Sequence

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.decoding import greedy, limit_output, trace
from playground.features.shared import blocks
from playground.features.shared.figures import attention as pictures, graph
from playground.features.shared.figures.graph import short
from playground.features.shared.heads import compute_mask
from playground.features.shared.queries import results
from playground.features.shared.queries.reader import Reader
from playground.features.shared.queries.results import SentenceTrace
from playground.features.shared.view import View, texts, tokens
from playground.inspection.interventions import mark_changes, output_fact, probability_fact
from playground.model.transformer import Transformer
from playground.runs.history import tokens_in_place
from playground.runs.run import Run
from playground.words import paragraph

MAX_SENTENCES = 120  # sentences of one search for wrong outputs
MAX_JUDGED = 24  # of these, sentences decoded with teacher forcing too
MAX_SUGGESTED = 4  # wrong sentences
SEARCHED, SEARCHED_HARDER = 100, 6  # sentences searched for them; longer ones if few go wrong


def draw_likeliest(view: View, look: SentenceTrace, at: int, share: int, tall: float = 0) -> dict:
    """Draws the likeliest tokens of step `at`, with the written one marked, for one of `share` columns."""
    likely = look.likely[at]
    return view.draw(
        graph.top_tokens,
        [token.text for token in likely],
        [token.probability for token in likely],
        chosen=next((place for place, token in enumerate(likely) if token.id == look.targets[at].id), None),
        share=share,
        tall=tall,
    )


def draw_attention(view: View, look: SentenceTrace, at: int, layer: int, head: int, share: int, tall: float = 0) -> tuple[dict, str]:
    """Draws the weights of this cross-attention head at step `at`, with their caption. `view.look` is `look`."""
    weights = look.cross[layer, head, at]
    picture = view.draw(
        pictures.step_bars,
        weights,
        texts(look.source),
        mask=compute_mask(view, "cross")[at],
        right=look.alignment[at] if look.alignment else None,
        share=share,
        tall=tall,
    )
    k = int(weights.argmax())
    caption = view.say("page.looks_caption", layer=layer + 1, head=head + 1, token=look.source[k].text, weight=f"{weights[k]:.2f}")
    return picture, caption


def default_method(run: Run) -> str:
    """Returns how a run's sentences are decoded unless a link says otherwise."""
    return "beam" if run.beam_width > 1 else "greedy"


def choose_method(view: View, methods: Sequence[str]) -> str:
    """Returns the decoding method of a link, else the run's default."""
    return view.choice("method", methods) or default_method(view.run)


def build_method_choice(view: View, methods: Sequence[str], method: str) -> dict:
    """Builds the choice of the decoding method; the run's default is what a link without one means."""
    values = ["" if each == default_method(view.run) else each for each in methods]
    options = [{"value": value, "label": view.say(f"page.method_{each}")} for value, each in zip(values, methods, strict=True)]
    return blocks.choice("method", "method", view.say("page.method"), options, values[methods.index(method)])


def build_gain(view: View) -> list[dict]:
    """Builds the line that says how the run's default was chosen, where it was."""
    gain = view.run.history.beam
    return [blocks.text("gain", view.say("decoding.gain", **gain._asdict()), "pg-caption")] if gain else []


def build_beam_controls(view: View, width: int, length_penalty: float) -> list[dict]:
    return [
        blocks.slider("beam", "beam", view.say("page.beam_width"), width),
        blocks.slider("penalty", "penalty", view.say("page.length_penalty"), length_penalty),
    ]


def build_comparison(
    view: View, outputs: tuple[SentenceTrace, SentenceTrace], fed: Sequence[str], likely: tuple[Sequence[float], Sequence[float]],
    changed: bool,
) -> list[dict]:  # fmt: skip
    """Builds the outputs before and after a change with their differences marked and, if there is a change, described. `likely` are the
    probabilities of each token of `fed` before and after."""
    before, after = outputs
    ids = [[piece.id for piece in look.targets] for look in outputs]
    removed, added = mark_changes(*ids)
    lines = [_build_line(view, "before", before, removed, "gone"), _build_line(view, "after", after, added, "new")]
    if before.references and not lines[0]["right"]:  # a correct output is one
        reference = tokens(view.reader.pieces(view.run, before.references[0], "tgt"))
        lines.append({"name": "reference", "label": view.say("interventions.reference"), "tokens": reference, "verdict": "", "right": None})

    def format_value(value: object) -> object:  # probabilities as in the figures
        return short(value) if isinstance(value, float) else value

    facts = (output_fact(*ids), probability_fact(*likely, fed)) if changed else ()
    sentences = [view.say(fact.key, **{name: format_value(value) for name, value in fact.values.items()}) for fact in facts]
    sentences += [view.say("interventions.marks")] if any(removed) or any(added) else []
    caption = paragraph([*sentences, view.step_note(before.step)])
    return [blocks.compare("compare", lines), blocks.text("caption", caption, css="pg-caption")]


def _build_line(view: View, name: str, look: SentenceTrace, marked: list[bool], mark: str) -> dict:
    output = tokens(look.targets, look.right, look.probabilities)
    right = None if look.right is None else look.finished and all(look.right)
    verdict = "" if right is None else view.say("interventions.right" if right else "interventions.wrong")
    return {
        "name": name,
        "label": view.say(f"interventions.{name}"),
        "long": view.say(f"interventions.{name}_long"),
        "tokens": [token | {"mark": mark if changed else ""} for token, changed in zip(output, marked, strict=True)],
        "verdict": verdict if look.finished else paragraph([verdict, view.say("interventions.endless")]),
        "right": right,
    }


def find_wrong_sentences(view: View) -> list[str] | None:
    """Finds sentences where teacher forcing and free running diverge; None during training, whose every step has others."""
    if view.run.working and view.step is None:
        return None
    sentences = view.examples()[:6]
    sentences += [pair for pair in view.reader.examples(view.run, "heldout", SEARCHED) if pair not in sentences]
    wrong = find_wrong(view.reader, view.run, view.step, sentences)
    if len(wrong) < MAX_SUGGESTED:  # a good model fails more often on longer sentences
        wrong += find_wrong(view.reader, view.run, view.step, view.reader.examples(view.run, "harder", SEARCHED_HARDER))
    return wrong[:MAX_SUGGESTED]


def find_wrong(reader: Reader, run: Run, step: int | None, sentences: Sequence[tuple[str, str]]) -> list[str]:
    """Lists the (source, target) sentences that free running gets wrong, of the first `MAX_SENTENCES` that the model can read, by exposure
    bias: first those with the most tokens that are wrong in free running and right once the reference is fed."""

    def read() -> dict[str, list[int]]:
        readable = [text for text, _ in sentences if _is_readable(reader, run, text)]
        return {text: reader.read(run, text)[1] for text in readable[:MAX_SENTENCES]}

    ids = reader.remember(run, ("readable", run.tokenizers is None, *sentences), read)
    texts, sources = [*ids], [*ids.values()]
    most = limit_output(run.longest_target, max(map(len, sources), default=0))

    def work(model: Transformer, actual: int) -> list[str]:
        gains = {}  # tokens that are right with teacher forcing only
        for text, source, output in zip(texts, sources, greedy(model, sources, most), strict=True):
            answers = [(*run.tokenizers[1].encode(answer), EOS) for answer in results.references(run, text) or ()]
            if output.ids in answers and UNK not in output.ids:
                continue
            nearest = max(answers, key=lambda answer: _count_right(output.ids, answer), default=None)
            judged = nearest is not None and len(nearest) <= MAX_POSITIONS and len(gains) < MAX_JUDGED
            gains[text] = _count_forced(model, source, nearest) - _count_right(output.ids, nearest) if judged else 0
        return sorted(gains, key=lambda text: -gains[text])

    return reader.work(run, step, (tuple(texts), "go wrong"), work)


def _count_right(ids: Sequence[int], answer: Sequence[int]) -> int:
    """Counts the tokens that are right at their place."""
    return sum(tokens_in_place(ids, [answer[:-1]]))


def _count_forced(model: Transformer, source: Sequence[int], answer: Sequence[int]) -> int:
    """Counts the tokens of the answer that are the likeliest under teacher forcing."""
    return int((trace(model, source, answer).probabilities.argmax(axis=-1) == answer).sum())


def _is_readable(reader: Reader, run: Run, text: str) -> bool:
    try:
        return bool(reader.read(run, text))
    except Refusal:
        return False
