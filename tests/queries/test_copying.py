"""What stands for a word that the model can't write: what its cross-attention looks at, never EOS."""

from types import SimpleNamespace

import numpy as np

from playground.config import EOS, UNK
from playground.data.tokenizers import WordTokenizer
from playground.queries import copying


def test_the_place_is_the_most_looked_at_of_the_last_layer_as_a_mean_over_its_heads(monkeypatch):
    misleading = [[[1, 0, 0, 0]] * 3] * 2  # the first layer
    first = [[0.6, 0.4, 0, 0], [0.1, 0.2, 0.3, 0.4], [0.5, 0, 0.5, 0]]
    second = [[0, 0.5, 0.5, 0], [0.1, 0.1, 0, 0.8], [0, 0, 1, 0]]
    nothing = np.zeros((0, 0, 2, 3))
    for cross, source, target, places in (
        ([misleading, [first, second]], [4, UNK, 5], [UNK, UNK, EOS], (1, 1, None)),  # of the second token EOS has .6, which is no word
        ([misleading, [first, second]], [4, UNK, 5], [UNK, 4, UNK], (1, None, 2)),
        (nothing, [4, 5], [UNK, EOS], (None, None)),
        (nothing, [4, 5], [6, EOS], (None, None)),
    ):
        monkeypatch.setattr(copying, "trace", lambda *_, cross=cross: SimpleNamespace(cross=np.array(cross, dtype=np.float32)))
        assert copying.looked_at(None, source, target) == places
    assert copying.copied(WordTokenizer(["likes"]), "Zoe likes  Ben", (2, None, 0)) == ("Ben", None, "Zoe")
