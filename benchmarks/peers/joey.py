"""Joey NMT 2.3.0, driven as a library: its own reading of text, batches, model, loop, clipping and schedule.

The settings are those of its example for this very task, configs/transformer_reverse.yaml of version 2.3.0: pre-norm, one matrix for both
embeddings and the output, AdamW at 1e-3, halved when five validations in a row brought nothing, gradients clipped at 1, and 12 pairs a
batch with two batches an update. Three things differ. Its trainer would validate by decoding and keep checkpoints; here the watch examines
at the pace it examines everybody, and nothing is kept. The example ends after five passes; here the limit ends it. And the schedule is
given to torch without the argument `verbose`, which torch no longer knows.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

from benchmarks.peers.common import Setting, Task, Watch, rows_right

OWN = Setting(d_model=64, n_heads=4, layers=2, d_ff=256, dropout=0.1, pairs=24, parts=2)
SIDES = ("src", "trg")
TRAINING = {
    "optimizer": "adamw",
    "learning_rate": 1e-3,
    "learning_rate_min": 2e-4,
    "weight_decay": 0.0,
    "clip_grad_norm": 1.0,
    "batch_type": "sentence",
    "scheduling": "plateau",
    "patience": 5,
    "decrease_factor": 0.5,
    "early_stopping_metric": "bleu",
    "epochs": 1_000_000,
    "validation_freq": 1000,
    "logging_freq": 100,
    "shuffle": True,
}
START = {"initializer": "xavier_uniform", "init_gain": 1.0, "bias_initializer": "zeros"}
EMBEDDINGS = {"embed_initializer": "xavier_uniform", "embed_init_gain": 1.0, "tied_embeddings": True, "tied_softmax": True}
SHAPE = {"type": "transformer", "layer_norm": "pre", "activation": "relu"}
EXAM_PAIRS = 100


class Learner:
    """Reads the pairs from two text files a split, as it always does, and trains in a folder that goes with it."""

    def __init__(self, task: Task) -> None:
        from joeynmt.config import parse_global_args  # optional: installed into an environment of its own
        from joeynmt.prediction import prepare

        logging.disable(logging.INFO)
        self._folder = tempfile.TemporaryDirectory()
        for split, items in (("train", task.train), ("dev", task.heldout)):
            for side, texts in zip(SIDES, zip(*((item.src_ids, item.tgt_ids) for item in items), strict=True), strict=True):
                lines = "".join(" ".join(f"w{token}" for token in ids) + "\n" for ids in texts)
                (Path(self._folder.name) / f"{split}.{side}").write_text(lines, encoding="utf-8")
        self._args = parse_global_args(_config(task, Path(self._folder.name)))
        self.model, self._train, self._heldout, _ = prepare(self._args, rank=0, mode="train")

    def train(self, watch: Watch) -> None:
        args, pads = self._args, {"pad_index": self.model.pad_index, "eos_index": self.model.eos_index}
        exam = [*self._heldout.make_iter(EXAM_PAIRS, "sentence", **pads)]
        train = args.train._replace(validation_freq=1)  # so that the watch is asked after every update
        trainer = _trainer()(
            0, self.model, args.model_dir, args.device, autocast=args.autocast, seed=args.seed, train_args=train, dev_args=args.test
        )
        trainer.follow(watch, exam)
        trainer.train_and_validate(self._train, self._heldout)
        self._folder.cleanup()


def _trainer() -> type:
    """Joey NMT's trainer, with the watch in place of its validation."""
    from joeynmt import builders
    from joeynmt.training import TrainManager

    builders.ReduceLROnPlateau = lambda verbose, **settings: ReduceLROnPlateau(**settings)

    class Trainer(TrainManager):
        def follow(self, watch: Watch, exam: list) -> None:
            self._watch, self._exam, self._tokens, self._cells = watch, exam, 0, 0

        def _train_step(self, batch):
            self._tokens += int(batch.src_mask.sum() + batch.trg_mask.sum())
            self._cells += batch.src.numel() + batch.trg_input.numel()
            return super()._train_step(batch)

        def _validate(self, valid_data) -> None:
            self.stats.is_max_update = self._watch.step(self._tokens, self._cells, self._exact_match)
            self._tokens = self._cells = 0
            if self.stats.steps % TRAINING["validation_freq"] == 0:
                self.scheduler.step(metrics=self._exact_match())

        @torch.inference_mode()
        def _exact_match(self) -> float:
            self.model.eval()
            right = sum(
                rows_right(self.model(return_type="loss", **vars(batch))[1], batch.trg, self.model.pad_index) for batch in self._exam
            )
            return right / sum(batch.nseqs for batch in self._exam)

        def _save_checkpoint(self, new_best: bool, score: float) -> None:
            """None is kept."""

    return Trainer


def _config(task: Task, folder: Path) -> dict:
    size = task.setting
    sides = {side: {"lang": side, "level": "word", "max_length": -1, "voc_min_freq": 0} for side in SIDES}
    stack = SHAPE | {"num_layers": size.layers, "num_heads": size.n_heads, "hidden_size": size.d_model, "ff_size": size.d_ff}
    stack |= {"dropout": size.dropout, "embeddings": {"embedding_dim": size.d_model, "scale": True}}
    return {
        "name": "reverse",
        "model_dir": str(folder),
        "use_cuda": False,
        "random_seed": task.seed,
        "data": {"train": str(folder / "train"), "dev": str(folder / "dev"), "dataset_type": "plain"} | sides,
        "testing": {"eval_metrics": ["bleu"]},
        "training": TRAINING | {"batch_size": size.pairs // size.parts, "batch_multiplier": size.parts},
        "model": START | EMBEDDINGS | {"encoder": dict(stack), "decoder": dict(stack)},
    }
