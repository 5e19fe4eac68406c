"""Decoding, wherever it is shown: one step with its likeliest tokens and cross-attention, a beam's controls, sentences that go wrong."""

from __future__ import annotations

from playground.features.shared import blocks
from playground.features.shared.figures import attention as pictures, bars
from playground.features.shared.heads import compute_mask
from playground.features.shared.queries.results import SentenceTrace
from playground.features.shared.queries.wrong_outputs import find_wrong
from playground.features.shared.view import View, texts

MAX_SUGGESTED = 4  # wrong sentences
SEARCHED, SEARCHED_HARDER = 100, 6  # sentences searched for them; longer ones if few go wrong


def draw_likeliest(view: View, look: SentenceTrace, at: int, share: int) -> dict:
    """Draws the likeliest tokens of step `at`, with the written one marked, for one of `share` columns."""
    likely = look.likely[at]
    return view.draw(
        bars.top_tokens,
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
