"""CTranslate2 with our weights, in a process and an environment of its own."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decoding.models import LENGTH, Sentences
from benchmarks.peers.environment import last_words
from benchmarks.suite import Missing
from playground.config import SPECIAL_TOKENS
from playground.model.transformer import Transformer

SCRIPT = Path(__file__).with_name("converted.py")


class Other:
    """The process, as a context. Raises Missing when the model can't be converted or the process dies."""

    def __init__(self, python: str, model: Transformer) -> None:
        self._python, self._model = python, model

    def __enter__(self) -> Other:
        self._folder = tempfile.TemporaryDirectory()
        model, folder = self._model, Path(self._folder.name)
        weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
        tables = {f"{side}_positions.table": getattr(model, f"{side}_positions").table.detach().numpy() for side in ("src", "tgt")}
        np.savez(folder / "weights.npz", **weights, **tables)
        config = model.config
        told = {
            "layers": [config.encoder_layers, config.decoder_layers],
            "heads": config.n_heads,
            "pre_norm": config.norm == "pre",
            "scale": config.embedding_scale,
            "activation": config.activation,
            "eps": model.decoder[0].norm_1.eps,
            "special": SPECIAL_TOKENS,
            "length": LENGTH,
        }
        (folder / "config.json").write_text(json.dumps(told), encoding="utf-8")
        self._errors = (folder / "errors").open("w+", encoding="utf-8")
        self._process = subprocess.Popen(
            [self._python, str(SCRIPT), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )
        try:
            self._answer()
        except Missing:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._errors.close()
        self._folder.cleanup()

    def write(self, given: Sentences, beam: int) -> dict[str, Any]:
        """{"ids": the tokens of each sentence, "seconds", "cpu": that it took over there}."""
        self._process.stdin.write(json.dumps({"sentences": given, "beam": beam}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise Missing(f"CTranslate2 gave up: {last_words(RuntimeError(self._errors.read()))}")
        return json.loads(line)
