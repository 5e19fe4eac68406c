"""A run as a folder that needs nothing of this project."""

from __future__ import annotations

from pathlib import Path

from playground.config import Refusal
from playground.runs.disk import files
from playground.runs.run import Run


def write_folder(run: Run, path: Path) -> None:
    """config.json (flat: every knob and both vocabulary sizes), model.safetensors, tokenizers and a model card. Raises Refusal."""
    step, parameters = run.parameters_at(None)
    if run.tokenizers is None:
        raise Refusal("runs.nothing_yet")
    src, tgt = run.tokenizers
    path.mkdir(parents=True, exist_ok=True)
    config = run.experiment.flat() | {"memory_mode": run.memory_at(step), "src_vocab": src.size, "tgt_vocab": tgt.size}
    card = f"---\nlibrary_name: transformer-playground\n---\n\n# {run.name}\n"
    for name, data in {
        "config.json": files.to_json(config),
        "model.safetensors": files.to_safetensors(parameters),
        "src_tokenizer.json": src.to_bytes(),
        "tgt_tokenizer.json": tgt.to_bytes(),
        "README.md": card.encode(),
    }.items():
        (path / name).write_bytes(data)
