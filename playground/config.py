"""Every setting a user can choose, declared once.

A knob is a dataclass field with a `Knob` in its metadata: its possible values, and whether it may change during training. From this
declaration come the control on the page, the check, the link parameter, the command-line option, the table in docs/parameters.md and
the checkpoint's config.json. Its label and help text are in words/*/knobs.json under its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any

from playground.choices import ALTERATIONS, ARCHITECTURES, ENCODINGS, OPTIMISERS, VARIANTS, Alteration, Encoding, UpdateRule
from playground.knobs import Knob, as_text, declared, fit
from playground.tasks.toy_tasks import TASKS
from playground.words import Refusal

PAD, BOS, EOS, UNK = 0, 1, 2, 3  # the first four ids of every vocabulary
SPECIAL_TOKENS = ("<pad>", "<bos>", "<eos>", "<unk>")
MAX_POSITIONS = 256  # the longest sequence any model takes, in tokens, BOS and EOS included
BEAM_WIDTH, LENGTH_PENALTY = 4, 1.0  # by default, see training/bleu.py


def _knob(default: Any, **limits: Any) -> Any:
    return field(default=default, metadata={"knob": Knob(**limits)})


@dataclass(frozen=True)
class ModelConfig:
    """The Transformer of the paper and its variations (section 3 of "Attention Is All You Need")."""

    d_model: int = _knob(64, low=8, high=512, step=8, first=True)
    n_heads: int = _knob(4, choices=(1, 2, 4, 8), first=True)
    d_k: int = _knob(0, choices=(0, 1, 2, 4, 8, 16, 32, 64))  # 0: the width of a head's values, d_model / n_heads
    encoder_layers: int = _knob(2, low=1, high=6, step=1, first=True)
    decoder_layers: int = _knob(2, low=1, high=6, step=1, first=True)
    d_ff: int = _knob(256, low=8, high=2048, step=8)
    dropout: float = _knob(0.0, low=0.0, high=0.5, step=0.05)
    positions: str = _knob("sinusoidal", choices=tuple(ENCODINGS), first=True)
    norm: str = _knob("post", choices=("post", "pre", "none"))
    activation: str = _knob("relu", choices=("relu", "gelu", "none"))
    share_embeddings: str = _knob("none", choices=("none", "output", "all"))
    embedding_scale: bool = _knob(True, choices=(True, False))
    embedding_std: float = _knob(0.02, low=0.001, high=2.0, step=0.001, typed=True)  # at initialisation
    attention_scale: float = _knob(0.5, choices=(0.0, 0.25, 0.5, 1.0))  # exponent of d_k in the divisor of the scores
    residual: bool = _knob(True, choices=(True, False))
    bias: bool = _knob(True, choices=(True, False))
    zero_init: bool = _knob(True, choices=(True, False))
    memory_mode: str = _knob("whole", choices=("whole", "mean", "cut"), live=True)
    architecture: str = _knob("encoder_decoder", choices=tuple(ARCHITECTURES))
    variant: str = _knob("none", choices=tuple(VARIANTS))  # a deliberate change (see playground/variants)

    @property
    def encoding(self) -> Encoding:
        """The properties of `positions`. Raises Refusal for an unknown name."""
        return declared("positions", ENCODINGS, self.positions)

    @property
    def altered_by(self) -> str:
        """The name of what differs from the paper's model: the architecture, else the variant; "none". Raises Refusal for both at once."""
        if self.architecture == "encoder_decoder":
            return self.variant
        if self.variant != "none":
            raise Refusal("config.variant_of_architecture", variant=self.variant, architecture=self.architecture)
        return self.architecture

    @property
    def alteration(self) -> Alteration:
        """The kind of change of `altered_by`. Raises Refusal as that, and for an unknown name."""
        return declared("variant", ALTERATIONS, self.altered_by)

    def attention_layers(self, part: str) -> int:
        """Returns the number of layers with a part of attention: "encoder" (source to source), "decoder" (target to target) or "cross"
        (target to source). The layers of a decoder-only model have all three."""
        if self.alteration.decoder_only:
            return self.encoder_layers + self.decoder_layers
        return self.encoder_layers if part == "encoder" else self.decoder_layers


@dataclass(frozen=True)
class DataConfig:
    """The sentences: which, how many, and their tokenization."""

    task: str = _knob("reverse", choices=(*TASKS, "own"), first=True)
    own: str = _knob("", text=True)  # id of uploaded pairs, for task "own"
    train_size: int = _knob(20_000, low=100, high=200_000, step=100, typed=True)
    tokenizer: str = _knob("auto", choices=("auto", "characters", "words", "bpe", "unigram"))
    vocab_size: int = _knob(1000, low=16, high=8000, step=8)  # SentencePiece only: the maximum number of pieces
    max_tokens: int = _knob(64, low=8, high=250, step=1)  # longer sentences of own data are dropped
    validation_size: int = _knob(500, low=10, high=5000, step=10, typed=True)  # maximum number of held-out sources
    test_size: int = _knob(500, low=0, high=5000, step=10, typed=True)  # of own data: maximum number of test sources
    data_seed: int = _knob(1, low=0, high=999_999, step=1, typed=True)


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of the training (section 5 of the paper, and newer methods)."""

    steps: int = _knob(85, low=1, high=100_000, step=1, typed=True, first=True)
    minutes: float = _knob(0.0, low=0.0, high=240.0, step=0.5, typed=True)  # 0: no time limit; else the schedule ends with the time
    batch_size: int = _knob(96, low=1, high=16_384, step=1, typed=True, first=True)
    batch_unit: str = _knob("sentences", choices=("sentences", "tokens"))
    packing: bool = _knob(True, choices=(True, False))
    optimiser: str = _knob("muon", choices=tuple(OPTIMISERS), first=True)
    learning_rate: float = _knob(0.04, low=1e-5, high=1.0, step=1e-5, live=True, typed=True, first=True)
    schedule: str = _knob("linear", choices=("paper", "linear", "constant"))
    warmup: int = _knob(5, low=0, high=10_000, step=1, typed=True)
    beta1: float = _knob(0.9, low=0.0, high=0.99, step=0.01)
    beta2: float = _knob(0.95, low=0.5, high=0.9999, step=0.0001, typed=True)
    weight_decay: float = _knob(0.0, low=0.0, high=0.5, step=0.01)
    label_smoothing: float = _knob(0.0, low=0.0, high=0.5, step=0.01, live=True)
    max_grad_norm: float = _knob(1.0, low=0.0, high=100.0, step=0.1, live=True, typed=True)  # 0: off
    stop_at: float = _knob(0.0, low=0.0, high=1.0, step=0.01)  # exact match at which the run ends; 0: never
    keep_best: bool = _knob(False, choices=(True, False))  # beside the last step, by validation loss
    patience: int = _knob(0, low=0, high=100, step=1)  # validations without a lower loss after which the run ends; 0: never
    eval_every: int = _knob(10, low=1, high=1000, step=1)
    seed: int = _knob(1, low=0, high=999_999, step=1, typed=True)
    threads: int = _knob(2, choices=(1, 2, 4))
    precision: str = _knob("auto", choices=("auto", "float32", "bfloat16"))

    @property
    def update_rules(self) -> dict[str, UpdateRule]:
        """The optimiser's rule by its name, then the rule for the rest if it has one. Raises Refusal for an unknown name."""
        own = declared("optimiser", OPTIMISERS, self.optimiser)
        return {self.optimiser: own} | ({own.rest: declared("optimiser", OPTIMISERS, own.rest)} if own.rest else {})


# Former names of knobs and values. Links, config.json files and the command line may still use them.
FORMER_NAMES = {
    "memory": "memory_mode", "twist": "variant", "pairs": "train_size", "vocabulary": "vocab_size", "heldout": "validation_size",
    "test": "test_size", "clip": "max_grad_norm", "validate_every": "eval_every",
}  # fmt: skip
FORMER_BEGINNINGS: dict[str, Callable[[int], float]] = {  # former variants -> today's embedding_std, given d_model
    "root_embeddings": lambda d_model: d_model**-0.5,
    "unit_embeddings": lambda d_model: 1.0,
}
FORMER_VALUES = {"schedule": {"one_cycle": "linear"}, "attention_scale": {"on": 0.5, "off": 0.0}}

PARTS = {"model": ModelConfig, "data": DataConfig, "training": TrainingConfig}


@dataclass(frozen=True)
class Experiment:
    """Everything needed to repeat a run. Knob names are unique over the three parts, so a flat mapping describes it."""

    model: ModelConfig = ModelConfig()
    data: DataConfig = DataConfig()
    training: TrainingConfig = TrainingConfig()

    @property
    def packs(self) -> bool:
        """Whether several pairs share a row: never for a recurrent model, whose state would carry over from one pair into the next."""
        return self.training.packing and not self.model.alteration.recurrent

    def flat(self) -> dict[str, Any]:
        """Returns every knob with its value, in the order of declaration."""
        return {knob.name: getattr(getattr(self, part), knob.name) for part, config in PARTS.items() for knob in fields(config)}

    def difference(self, other: Experiment | None = None) -> dict[str, Any]:
        """Returns the knobs that differ from `other` (the defaults when None), with their values here."""
        theirs = (other or Experiment()).flat()
        return {name: value for name, value in self.flat().items() if value != theirs[name]}

    def query(self) -> dict[str, str]:
        """Returns the link parameters: only values that differ from the defaults, as text."""
        return {name: as_text(value) for name, value in self.difference().items()}

    def with_(self, **values: Any) -> Experiment:
        """Returns a copy with these knobs set, each checked. Raises Refusal for an unknown knob or a value outside its range."""
        checked = {name: check(name, value) for name, value in values.items()}
        parts = {
            part: replace(getattr(self, part), **{k.name: checked[k.name] for k in fields(config) if k.name in checked})
            for part, config in PARTS.items()
        }
        return Experiment(**parts)


KNOBS: dict[str, Field] = {knob.name: knob for config in PARTS.values() for knob in fields(config)}
LIVE_KNOBS = tuple(name for name, knob in KNOBS.items() if knob.metadata["knob"].live)
MOVED_KNOBS = (*LIVE_KNOBS, "steps")  # may change during training: by the user, and the last step also by the time limit


def current_name(name: str) -> str:
    """Returns the present name of a knob; unknown names are returned unchanged."""
    return FORMER_NAMES.get(name, name)


def replace_former_variant(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replaces a former variant that is now a value of embedding_std by that value."""
    name = next((name for name in ("variant", "twist") if values.get(name) in tuple(FORMER_BEGINNINGS)), None)
    if name is None:
        return values
    d_model = check("d_model", values.get("d_model", default("d_model")))
    return {**values, name: "none", "embedding_std": FORMER_BEGINNINGS[values[name]](d_model)}


def limits(name: str) -> Knob:
    """Returns the `Knob` (range or choices) of one field. Raises Refusal for an unknown name."""
    if name not in KNOBS:
        raise Refusal("config.unknown", name=name)
    return KNOBS[name].metadata["knob"]


def default(name: str) -> Any:
    return KNOBS[name].default


def check(name: str, value: Any) -> Any:
    """Returns `value` as the type of knob `name`. Raises Refusal with the knob, the value and what is possible (knobs.py, `fit`).

    Accepts former choices, text (from links and the command line) and near-misses of a browser (64.0 for 64).
    """
    knob, former = limits(name), FORMER_VALUES.get(name, {})
    return fit(knob, name, type(default(name)), former.get(as_text(value), value) if former else value)


def is_possible(name: str, value: Any) -> bool:
    """Returns whether `check` accepts the value."""
    try:
        return value is not None and check(name, value) is not None
    except Refusal:
        return False


def read_query(query: Mapping[str, str], base: Experiment | None = None) -> tuple[Experiment, list[Refusal]]:
    """Returns the experiment of a link, and a Refusal for each invalid value in it; names that are no knobs are skipped."""
    query, good, ignored = replace_former_variant(query), {}, []
    for given_name in (*FORMER_NAMES, *KNOBS):  # a value under the present name wins
        if given_name in query:
            name = current_name(given_name)
            try:
                good[name] = check(name, query[given_name])
            except Refusal as refusal:
                ignored.append(refusal)
    return (base or Experiment()).with_(**good), ignored


def to_json(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Returns the three parts as plain mappings, the content of config.json."""
    return {part: {k.name: getattr(getattr(experiment, part), k.name) for k in fields(config)} for part, config in PARTS.items()}


def from_json(data: Any) -> Experiment:
    """Reads the output of `to_json`. Raises Refusal for an unknown part, name or value; missing names take their defaults."""
    if not isinstance(data, dict) or not all(isinstance(data.get(part, {}), dict) for part in PARTS):
        raise Refusal("config.not_a_config")
    values = {}
    for part, config in PARTS.items():
        own = {k.name for k in fields(config)}
        for given_name, value in data.get(part, {}).items():
            name = current_name(given_name)
            if name not in own:
                raise Refusal("config.unknown", name=f"{part}.{given_name}")
            values[name] = value
    return Experiment().with_(**replace_former_variant(values))


PRESETS: dict[str, dict[str, Any]] = {
    # the initial setting: the paper's architecture, trained with modern methods
    "default": {},
    # section 5 of the paper, scaled down: Adam, warm-up schedule, dropout and label smoothing 0.1
    "paper": dict(
        norm="post", positions="sinusoidal", dropout=0.1, label_smoothing=0.1, optimiser="adam", schedule="paper",
        learning_rate=1.0, warmup=200, beta1=0.9, beta2=0.98, max_grad_norm=0.0, steps=1500, eval_every=50, zero_init=False, bias=True,
        packing=False,
    ),
    # the fastest combination
    "fast": dict(bias=False, d_ff=128, zero_init=True, optimiser="muon", schedule="linear", learning_rate=0.04, steps=90),
    # the only task that the default learns with some seeds only
    "lookup": dict(task="lookup", encoder_layers=1, decoder_layers=1, n_heads=8, steps=900),
    # the paper's own size on the example sentence of many tutorials
    "paper_size": dict(
        task="beer", d_model=512, n_heads=8, encoder_layers=6, decoder_layers=6, d_ff=2048, norm="post", positions="sinusoidal",
        zero_init=False, optimiser="adam", schedule="constant", learning_rate=1e-4, steps=30, batch_size=1, eval_every=5,
    ),
}  # fmt: skip

# The number of steps for tasks that need more than the default.
TASK_STEPS = {name: task.steps for name, task in TASKS.items() if task.steps}


def with_task_steps(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the knobs that are not None, with the steps that their task needs, where it has a number of its own and none is chosen."""
    knobs = {name: value for name, value in chosen.items() if value is not None}
    return {"steps": steps} | knobs if (steps := TASK_STEPS.get(knobs.get("task"))) else knobs


# With `minutes`, this multiple of the steps that probably fit is planned: a machine may prove faster, and the clock ends the run.
SLACK = 2
# Step counts set by a preset or a task, not by the user.
USUAL_STEPS = frozenset((default("steps"), PRESETS["fast"]["steps"], *TASK_STEPS.values()))


def preset(name: str, base: Experiment | None = None) -> Experiment:
    """Returns the experiment of a preset. With `base`, its task and data stay and the rest takes the preset's values. Raises Refusal."""
    chosen = declared("preset", PRESETS, name)
    start = Experiment(data=base.data) if base else Experiment()
    return start.with_(**chosen)
