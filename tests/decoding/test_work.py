"""The work that is told of is what torch counts."""

import pytest
import torch
from hypothesis import example, given, settings, strategies as st
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from playground.config import ModelConfig, limits
from playground.decoding import greedy, multiplications, positions, sample, search, single_decoder, without_cache
from playground.model.transformer import Transformer
from tests.decoding.test_sampling import SOURCES
from tests.model.shared_copies import disturb


def counted(work) -> int:
    """Multiplications by torch's own count, in which each comes with its addition, as two operations; and those of numpy."""
    on_cpu = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu  # which torch counts on a GPU only
    counter = FlopCounterMode(display=False, custom_mapping={on_cpu: lambda q, k, v, *_, **__: sdpa_flop_count(q, k, v)})
    products, linear, attend = [], single_decoder.linear, single_decoder.attend

    def counted_linear(module):
        times = linear(module)
        return lambda x: products.append(x.size * module.out_features) or times(x)

    def counted_attend(q, k, v, *rest):
        products.append(k.size + v[..., :-1].size)  # the ones beside the values only sum the weights
        return attend(q, k, v, *rest)

    with counter, pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_decoder, "linear", counted_linear)
        patch.setattr(single_decoder, "attend", counted_attend)
        work()
    return counter.get_total_flops() // 2 + sum(products)


@pytest.mark.trust
@example({"d_k": 1, "encoder_layers": 1, "memory_mode": "whole"}, True)
@settings(max_examples=2)
@given(
    st.fixed_dictionaries(
        {name: st.sampled_from(limits(name).choices) for name in ("positions", "norm", "memory_mode")}
        | {"bias": st.booleans(), "encoder_layers": st.integers(1, 2), "d_ff": st.sampled_from([24, 40]), "d_k": st.sampled_from([1, 4, 0])}
    ),
    st.booleans(),
)
def test_the_work_that_is_told_is_what_torch_counts(knobs, fast):
    """For every method, with a prefix and without: of what ran, and of what would have run without the cache."""
    config = ModelConfig(**{"d_model": 16, "n_heads": 2, "d_ff": 24, "decoder_layers": 1, **knobs})
    model = disturb(Transformer(config, 9, 11, torch.Generator().manual_seed(1))).eval()
    source = SOURCES[3]
    for prefix, write in (
        ((), lambda cache, record: greedy(model, [source], 5, (), cache, record, fast)),
        ((), lambda cache, record: search(model, source, 4, 0.6, 5, (), cache, record, fast)),
        ((4, 5, 6), lambda cache, record: sample(model, source, 1.0, 5, 1, (4, 5, 6), cache=cache, record=record, fast=fast)),
        ((4, 5, 6), lambda cache, record: search(model, source, 4, 0.6, 5, (4, 5, 6), cache, record, fast)),
    ):
        cached, anew = [], []
        write(True, cached)
        write(False, anew)
        counts = [multiplications(config, 11, len(source) + 1, record) for record in (cached, anew)]
        assert [counted(lambda cache=cache, write=write: write(cache, [])) for cache in (True, False)] == counts
        assert counts[0] < counts[1]
        assert without_cache(cached) == anew
        assert [entry.computed for entry in cached] == ([len(prefix)] if prefix else []) + [1] * len(anew[bool(prefix) :])
        assert positions(anew) == sum(entry.rows * entry.length for entry in cached)
