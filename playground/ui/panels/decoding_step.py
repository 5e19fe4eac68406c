"""One step of a decoder, drawn wherever a step is looked at: which tokens were likeliest, and where cross-attention looked."""

from __future__ import annotations

from playground.figures import attention as pictures
from playground.figures import bars
from playground.queries.results import SentenceTrace
from playground.ui.panels.attention import seen
from playground.ui.view import View, texts


def likeliest(view: View, look: SentenceTrace, at: int, share: int) -> dict:
    """The picture of the likeliest tokens of step `at`; the one that was written is marked. It stands in one of `share` columns."""
    likely = look.likely[at]
    return view.draw(
        bars.top_tokens,
        [token.text for token in likely],
        [token.probability for token in likely],
        chosen=next((place for place, token in enumerate(likely) if token.id == look.targets[at].id), None),
        share=share,
    )


def looks(view: View, look: SentenceTrace, at: int, layer: int, head: int, share: int) -> tuple[dict, str]:
    """The picture of where this head of cross-attention looks while step `at` is chosen, and its caption. `view.look` is `look`."""
    weights = look.cross[layer, head, at]
    picture = view.draw(
        pictures.step_bars,
        weights,
        texts(look.source),
        mask=seen(view, "cross")[at],
        right=look.alignment[at] if look.alignment else None,
        share=share,
    )
    k = int(weights.argmax())
    caption = view.say("page.looks_caption", layer=layer + 1, head=head + 1, token=look.source[k].text, weight=f"{weights[k]:.2f}")
    return picture, caption
