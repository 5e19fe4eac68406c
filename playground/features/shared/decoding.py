"""Decoding, wherever it is shown: one step with its likeliest tokens and cross-attention, a beam's controls, sentences that go wrong."""

from __future__ import annotations

from collections.abc import Sequence

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.decoding import greedy, trace
from playground.features.shared import blocks
from playground.features.shared.figures import attention as pictures, graph
from playground.features.shared.heads import compute_mask
from playground.features.shared.queries import results
from playground.features.shared.queries.reader import Reader, max_output_tokens
from playground.features.shared.queries.results import SentenceTrace
from playground.features.shared.view import View, texts
from playground.model.transformer import Transformer
from playground.runs.history import tokens_in_place
from playground.runs.run import Run

MAX_SENTENCES = 120  # sentences of one search for wrong outputs
MAX_JUDGED = 24  # of these, sentences decoded with teacher forcing too
MAX_SUGGESTED = 4  # wrong sentences
SEARCHED, SEARCHED_HARDER = 100, 6  # sentences searched for them; longer ones if few go wrong


def draw_likeliest(view: View, look: SentenceTrace, at: int, share: int) -> dict:
    """Draws the likeliest tokens of step `at`, with the written one marked, for one of `share` columns."""
    likely = look.likely[at]
    return view.draw(
        graph.top_tokens,
        [token.text for token in likely],
        [token.probability for token in likely],
        chosen=next((place for place, token in enumerate(likely) if token.id == look.targets[at].id), None),
        share=share,
    )


def draw_attention(view: View, look: SentenceTrace, at: int, layer: int, head: int, share: int) -> tuple[dict, str]:
    """Draws the weights of this cross-attention head at step `at`, with their caption. `view.look` is `look`."""
    weights = look.cross[layer, head, at]
    picture = view.draw(
        pictures.step_bars,
        weights,
        texts(look.source),
        mask=compute_mask(view, "cross")[at],
        right=look.alignment[at] if look.alignment else None,
        share=share,
    )
    k = int(weights.argmax())
    caption = view.say("page.looks_caption", layer=layer + 1, head=head + 1, token=look.source[k].text, weight=f"{weights[k]:.2f}")
    return picture, caption


def build_beam_controls(view: View, width: int, length_penalty: float) -> list[dict]:
    return [
        blocks.slider("beam", "beam", view.say("page.beam_width"), width),
        blocks.slider("penalty", "penalty", view.say("page.length_penalty"), length_penalty),
    ]


def find_first_wrong(view: View) -> str:
    """Returns the first sentence whose free-running output diverges from teacher forcing; "" if none is known."""
    return (find_wrong_sentences(view) or [""])[0]


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
    texts = [text for text, _ in sentences if _is_readable(reader, run, text)][:MAX_SENTENCES]
    sources = [reader.read(run, text)[1] for text in texts]
    most = max_output_tokens(run.longest_target, max(map(len, sources), default=0))

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
