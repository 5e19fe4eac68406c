"""The ONNX graphs compute what the model computes, token by token, for sentences of any length."""

import numpy as np
import pytest
import torch

import playground
from playground.cli import main
from playground.config import PAD, Refusal
from playground.export.onnx_graphs import write_onnx
from playground.variants import build


@pytest.mark.night
@pytest.mark.trust
@pytest.mark.parametrize("run", ["sort", "german_english"])
def test_the_graphs_write_the_logits_and_the_attention_of_the_model(run, tmp_path, capsys):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    assert main(["export", run, "--onnx", "-o", str(tmp_path / "graphs")]) == 0
    assert capsys.readouterr().out.endswith("graphs\n")
    encoder, step = (runtime.InferenceSession(tmp_path / "graphs" / f"{name}.onnx") for name in ("encoder", "decoder_step"))
    model, dice = playground.load(run).model, torch.Generator().manual_seed(0)
    for sentences, length, tokens in ((1, 3, 6), (3, 9, 5), (2, 1, 2)):
        src, tgt_in = (torch.randint(4, 8, (sentences, count), generator=dice) for count in (length, tokens))
        src[0, 2:] = PAD
        with torch.no_grad():
            logits, _, _, cross = model(src, tgt_in)
        cross_k, cross_v = encoder.run(None, {"src": src.numpy()})
        own_k, own_v = cross_k[:, :, :, :0], cross_v[:, :, :, :0]
        for at in range(tokens):
            written = tgt_in[:, : at + 1].numpy()
            inputs = {"src": src.numpy(), "tgt_in": written, "self_k": own_k, "self_v": own_v, "cross_k": cross_k, "cross_v": cross_v}
            row, own_k, own_v, weights = step.run(None, inputs)
            np.testing.assert_allclose(row, logits[:, at], atol=1e-5, rtol=1e-5)
            np.testing.assert_allclose(weights, torch.stack(cross)[:, :, :, at], atol=1e-5)


def test_an_altered_model_is_refused(tmp_path):
    pytest.importorskip("onnxscript")
    model = build(playground.config.ModelConfig(variant="gru"), 9, 9)
    with pytest.raises(Refusal, match="gru"):
        write_onnx(model, tmp_path)
