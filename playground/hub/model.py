"""The Transformer with `save_pretrained`, `from_pretrained` and `push_to_hub`; model/ itself doesn't depend on the Hub."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import PyTorchModelHubMixin, hf_hub_download
from huggingface_hub.errors import EntryNotFoundError

from playground.config import Experiment, Refusal, current_name
from playground.data.tokenizers import Tokenizer, load_tokenizer
from playground.export.contents import write_folder
from playground.model.transformer import Transformer
from playground.runs.disk import files
from playground.runs.disk.folder import MAX_TENSOR_BYTES
from playground.runs.disk.replay_file import read_parameters
from playground.runs.run import Run
from playground.variants import variant_of

WEIGHTS = "model.safetensors"
TOKENIZERS = ("src_tokenizer.json", "tgt_tokenizer.json")
MAX_VOCABULARY = 2**20  # tokens: more than any tokenizer here can have


class HubTransformer(Transformer, PyTorchModelHubMixin, library_name="transformer-playground", tags=["attention", "education"]):
    """A trained model with its tokenizers. `from_pretrained("owner/name")`, or of a folder, gives the logits of the run to the bit.

    The signature is flat, and so is config.json: both vocabulary sizes, the longest target, and every knob of the run by its name. Raises
    Refusal for an unknown knob or value.
    """

    def __init__(self, src_vocab: int, tgt_vocab: int, longest_target: int = 0, **knobs: Any) -> None:
        config = experiment_of(knobs).model
        super().__init__(config, src_vocab, tgt_vocab)
        with torch.no_grad():
            variant_of(config).change(self)
        self.tokenizers: tuple[Tokenizer, Tokenizer] | None = None
        self.run: Run | None = None
        self.longest_target = longest_target  # of the training data: decoding should allow as many tokens

    @classmethod
    def from_run(cls, run: Run) -> HubTransformer:
        """Loads the run's newest parameters, in eval mode. Saving it writes the files of the run's export. Raises Refusal."""
        with tempfile.TemporaryDirectory() as folder:
            write_folder(run, Path(folder))
            model = cls.from_pretrained(folder)
        model.run = run
        return model

    def _save_pretrained(self, save_directory: Path) -> None:
        if self.run is not None:
            write_folder(self.run, save_directory)
            return
        (save_directory / WEIGHTS).write_bytes(files.to_safetensors(dict(self.named_parameters())))
        for name, tokenizer in zip(TOKENIZERS, self.tokenizers or (), strict=False):
            (save_directory / name).write_bytes(tokenizer.to_bytes())

    @classmethod
    def _from_pretrained(
        cls, *, model_id: str, map_location: str = "cpu", src_vocab: int = 0, tgt_vocab: int = 0, **rest: Any
    ) -> HubTransformer:
        """Loads untrusted files: the size is compared with the config before a model of that size is created. Raises Refusal."""
        download_options = {name: rest.pop(name) for name in ("revision", "cache_dir", "force_download", "local_files_only", "token")}
        fetch = partial(_file, model_id, **download_options)
        data = files.read_bytes(fetch(WEIGHTS), MAX_TENSOR_BYTES, WEIGHTS)
        longest_target = rest.pop("longest_target", 0)
        config = experiment_of(rest).model
        if any(type(size) is not int or not 0 < size <= MAX_VOCABULARY for size in (src_vocab, tgt_vocab)):
            raise Refusal("runs.not_a_run", what="config.json")
        parameters = read_parameters(data, config, src_vocab, tgt_vocab, WEIGHTS)
        model = cls(src_vocab=src_vocab, tgt_vocab=tgt_vocab, longest_target=longest_target, **rest)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(parameters[name])
        with suppress(FileNotFoundError, EntryNotFoundError):  # a model that was not trained here has none
            src, tgt = (load_tokenizer(fetch(name).read_bytes()) for name in TOKENIZERS)
            model.tokenizers = src, tgt
        return model.to(map_location).eval()


def experiment_of(knobs: dict[str, Any]) -> Experiment:
    """Builds the experiment of a flat mapping. Raises Refusal."""
    return Experiment().with_(**{current_name(name): value for name, value in knobs.items()})


def _file(model_id: str, name: str, **download_options: Any) -> Path:
    """Returns a file of a folder or of a Hub repository, downloaded."""
    if os.path.isdir(model_id):
        return Path(model_id) / name
    return Path(hf_hub_download(model_id, name, **download_options)).resolve()  # the cache holds links
