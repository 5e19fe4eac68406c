"""Run by the Python that has CTranslate2: converts one of our models, then writes what it is asked for on stdin, a line of JSON each."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import ctranslate2
import numpy as np
from ctranslate2.specs import Activation, TransformerSpec


def main(folder: Path) -> None:
    config, weights = json.loads((folder / "config.json").read_text(encoding="utf-8")), dict(np.load(folder / "weights.npz"))
    words = [[*config["special"], *map(str, range(len(config["special"]), size))] for size in _sizes(weights)]
    _spec(config, weights, words).save(str(_made(folder / "model")))
    translator = ctranslate2.Translator(str(folder / "model"), device="cpu", compute_type="float32", inter_threads=1, intra_threads=1)
    ids = {word: id for id, word in enumerate(words[1])}
    end, most = config["special"][2], config["length"]
    print(json.dumps({"version": ctranslate2.__version__}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        begin, spent = time.perf_counter(), time.process_time()
        source = [[*(words[0][id] for id in sentence), end] for sentence in asked["sentences"]]
        found = translator.translate_batch(source, beam_size=asked["beam"], max_decoding_length=most, length_penalty=0)
        written = [[ids[word] for word in result.hypotheses[0]] for result in found]
        took = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - spent}
        print(json.dumps(took | {"ids": written}), flush=True)


def _spec(config: dict, weights: dict[str, np.ndarray], words: list[list[str]]) -> TransformerSpec:
    """Our parameters where CTranslate2 wants them: W_q, W_k and W_v in one matrix, W_k and W_v of cross-attention in another."""
    activation = {"relu": Activation.RELU, "gelu": Activation.GELU}[config["activation"]]
    spec = TransformerSpec.from_config(tuple(config["layers"]), config["heads"], pre_norm=config["pre_norm"], activation=activation)
    spec.register_source_vocabulary(words[0])
    spec.register_target_vocabulary(words[1])
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = (config["special"][at] for at in (3, 1, 2))
    spec.config.decoder_start_token, spec.config.layer_norm_epsilon = spec.config.bos_token, config["eps"]

    def linear(layer: object, *names: str) -> None:
        layer.weight = np.concatenate([weights[f"{name}.weight"] for name in names])
        layer.bias = np.concatenate([weights[f"{name}.bias"] for name in names])

    def norm(layer: object, name: str) -> None:
        layer.gamma, layer.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]

    sides = ((spec.encoder, spec.encoder.embeddings[0], "src", "encoder"), (spec.decoder, spec.decoder.embeddings, "tgt", "decoder"))
    for side, embeddings, tokens, stack in sides:
        embeddings.weight, side.scale_embeddings = weights[f"{tokens}_embedding.weight"], config["scale"]
        side.position_encodings.encodings = weights[f"{tokens}_positions.table"]
        if config["pre_norm"]:
            norm(side.layer_norm, f"{stack}_norm")
        for number, layer in enumerate(side.layer):
            name = f"{stack}.{number}"
            own, cross = f"{name}.self_attention", f"{name}.cross_attention"
            linear(layer.self_attention.linear[0], *(f"{own}.W_{part}" for part in "qkv"))
            linear(layer.self_attention.linear[1], f"{own}.W_o")
            norms = [layer.self_attention.layer_norm, layer.ffn.layer_norm]
            if stack == "decoder":
                linear(layer.attention.linear[0], f"{cross}.W_q")
                linear(layer.attention.linear[1], f"{cross}.W_k", f"{cross}.W_v")
                linear(layer.attention.linear[2], f"{cross}.W_o")
                norms.insert(1, layer.attention.layer_norm)
            for at, one in enumerate(norms, 1):
                norm(one, f"{name}.norm_{at}")
            linear(layer.ffn.linear_0, f"{name}.feed_forward.W_1")
            linear(layer.ffn.linear_1, f"{name}.feed_forward.W_2")
    linear(spec.decoder.projection, "projection")
    spec.validate()
    spec.optimize()
    return spec


def _sizes(weights: dict[str, np.ndarray]) -> list[int]:
    """How many tokens each side knows."""
    return [len(weights[f"{side}_embedding.weight"]) for side in ("src", "tgt")]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main(Path(sys.argv[1]))
