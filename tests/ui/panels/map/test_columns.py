"""What the columns of a stage are called."""

from types import SimpleNamespace

from playground.config import ModelConfig
from playground.inspection.activations import record
from playground.ui.panels.map.stage import columns_of
from playground.words import say
from tests.inspection.test_activations import SRC, TGT, build


def test_values_that_are_wider_than_queries_have_columns_with_a_name():
    view = SimpleNamespace(say=lambda key: say("en", key), run=SimpleNamespace(experiment=SimpleNamespace(model=ModelConfig(d_k=2))))
    stages = record(build(d_k=2), SRC, TGT)
    for name, width in (("q", 2), ("v", 4), ("mixed", 4)):
        columns, title, _ = columns_of(view, None, stages[f"encoder.0.self_attention.{name}"])
        assert (len(columns), title) == (width, say("en", "map.axis_size"))
