"""One decoding step, drawn wherever a step is shown: its likeliest tokens, and the weights of cross-attention."""

from __future__ import annotations

from playground.figures import attention as pictures, bars
from playground.queries.results import SentenceTrace
from playground.ui.panels.attention import compute_mask
from playground.ui.view import View, texts


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
