"""Generates the parts of README.md and docs/ that come from the code: parameters, the paper's sections, labs, quiz answers, where to find
things, trust tests."""

import ast
from dataclasses import fields
from pathlib import Path

from playground.config import LIVE_KNOBS, PARTS, default, limits
from playground.lessons.course import LESSONS, list_labs
from playground.lessons.labs import LABS
from playground.words import ENGLISH, say

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
# Section of the paper | lesson | labs | file and the beginning of the line
PAPER = (
    ("1 and 2: why attention at all", "why", ("why_attention",), "playground/variants/recurrent.py", "class RecurrentEncoder("),
    ("3.1 Encoder and decoder stacks", "layers", ("skip", "norm_depth", "depth"), "playground/model/layers.py", "class EncoderLayer("),
    ("3.2.1 Scaled dot-product attention", "weight", ("softmax", "attention_scale", "products"),
     "playground/model/attention.py", "def scaled_dot_product_attention("),
    ("3.2.2 Multi-head attention", "heads", ("heads", "shapes", "qkv", "w_o"), "playground/model/attention.py",
     "class MultiHeadAttention("),
    ("3.2.3 Masks of the decoder", "masks", ("masks", "bug_future", "bug_fill"), "playground/model/masks.py", "def target_mask("),
    ("3.3 Position-wise feed-forward networks", "layers", ("feedforward", "no_ffn"), "playground/model/layers.py", "class FeedForward("),
    ("3.4 Embeddings and softmax", "tokens", ("vocabulary", "embedding_scale", "shared"),
     "playground/model/transformer.py", "x = x * math.sqrt("),
    ("3.5 Positional encoding", "order", ("order", "positions", "encodings", "beyond"), "playground/model/positions.py", "def sinusoids("),
    ("5.1 Training data and batching", "own", ("bpe", "padding_sides"), "playground/data/batches.py", "class Batch("),
    ("5.3 Optimizer", "steering", ("warmup",), "playground/training/optimisers.py", "def learning_rate("),
    ("5.4 Regularization", "training", ("dropout", "smoothing"), "playground/training/step.py", "def cross_entropy("),
    ("6.1 Beam search", "decoding", ("exposure_bias",), "playground/decoding/beam.py", "def search("),
)  # fmt: skip
# The answer to each question of the quiz, in their order: a file, and the line in it.
QUIZ = (
    ("playground/model/attention.py", "scores = scores / q.shape[-1] ** power  # the paper's power is 0.5: the square root of d_k"),
    ("playground/model/masks.py", "return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]"),
    ("playground/model/attention.py", "scores = scores + torch.where(mask, 0.0, MASKED)"),
    ("playground/model/transformer.py", "x = x * math.sqrt(self.config.d_model)"),
    ("playground/data/batches.py", "tgt_in=padded([(BOS, *item.tgt_ids) for item in items]),"),
    ("playground/model/layers.py", "x = self.norm_1(self.residual(x, attended))"),
    ("playground/training/step.py", "padding = tgt_out == PAD"),
    ("playground/training/optimisers.py", "return config.learning_rate * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)"),
    ("playground/decoding/model_decoder.py", "while growing and written.shape[1] <= most:"),
    (
        "playground/training/loop.py",
        "micro_batch.replica.generator.manual_seed((config.seed * 1_000_003 + number) * len(self.replicas) + micro_batch.number)",
    ),
)

# Where to find or to change a thing: the line to begin with, and the other files of a change.
WHERE = (
    ("Add a toy task", "playground/tasks/sequences.py", "REVERSE = _letter_task(",
     ("playground/words/*/tasks.json",)),
    ("Add a positional encoding", "playground/choices.py", "ENCODINGS = {",
     ("playground/model/positions.py", "playground/inspection/derivation.py", "playground/words/*/knobs.json")),
    ("Add a knob", "playground/config.py", "class TrainingConfig",
     ("playground/words/*/knobs.json", "playground/training/loop.py", "playground/training/slow_step.py", "docs/parameters.md")),
    ("Add an optimiser", "playground/choices.py", "OPTIMISERS = {",
     ("playground/training/optimisers.py", "playground/words/*/knobs.json")),
    ("Add a figure", "playground/features/shared/figures/graph.py", "def lines(",
     ("playground/features/shared/*.json", "playground/features/shared/labs.py", "tests/figures/gallery.py")),
    ("Add a number to a tab", "playground/features/attention/panel.py", "def panel(",
     ("playground/inspection/attention.py", "playground/features/attention/*.json")),
    ("Add a format of files", "playground/reading/formats/wrapped.py", "@reads(", ("tests/reading/cases.py",)),
    ("Add a lab", "playground/lessons/labs/shapes/__init__.py", "LAB = Lab(", ("playground/lessons/labs/shapes/*.json",)),
    ("Add a language", "playground/words/__init__.py", "OFFERED = ", ("playground/words/es/*.json",)),
    ("Find the learning rate of step n", "playground/training/optimisers.py", "def learning_rate(", ()),
    ("Follow a click on a number to its arithmetic", "playground/features/map/panel.py", "def panel(",
     ("playground/features/shared/queries/activations.py", "playground/inspection/activations.py", "playground/inspection/derivation.py",
      "playground/inspection/arithmetic.py", "playground/features/map/stage.py", "playground/features/shared/derivation.py")),
    ("See who may change or delete a run", "playground/runs/registry.py", "def require_owner(",
     ("playground/runs/identity.py", "playground/ui/rights.py", "playground/ui/command.py", "playground/runs/housekeeping.py")),
    ("See what ends a step that hangs", "playground/runs/queue/workers.py", "def check_turns(",
     ("playground/runs/queue/scheduler.py", "playground/runs/queue/jobs.py", "playground/runs/starter.py")),
    ("Find where the replay is kept", "playground/runs/replay.py", "class Replay:",
     ("playground/runs/recording.py", "playground/runs/rounded.py",
      "playground/runs/disk/replay_file.py", "playground/runs/disk/folder.py")),
)  # fmt: skip


def parameter_table() -> str:
    """Returns every knob with its default, possible values and meaning, as a Markdown table for each part."""
    parts = []
    for part, config in PARTS.items():
        rows = [
            f"| `{knob.name}` | {_value(default(knob.name))} | {_range(knob.name)} | {_meaning(knob.name)} |" for knob in fields(config)
        ]
        parts.append("\n".join([f"**{part}**", "", "| name | default | takes | what it means |", "|---|---|---|---|", *rows]))
    return "\n\n".join(parts)


def quiz_answers() -> str:
    """Returns file, line number and line of each answer. Raises ValueError when a line is gone."""
    answers = []
    for number, (file, line) in enumerate(QUIZ, start=1):
        lines = [text.strip() for text in (ROOT / file).read_text(encoding="utf-8").splitlines()]
        answers.append(f"{number}. `{file}:{lines.index(line) + 1}` — `{line}`")
    return "\n".join(answers)


def where() -> str:
    """Returns the line to begin with and the other files for each aim. Raises ValueError when one is gone."""
    rows = ["| to … | begin at | and | files |", "|---|---|---|---|"]
    for aim, file, line, more in WHERE:
        files = [path for pattern in (file, *more) for path in sorted(ROOT.glob(pattern))]
        if not all(list(ROOT.glob(pattern)) for pattern in more):
            raise ValueError(aim)
        named = ", ".join(f"`{pattern.removeprefix('playground/')}`" for pattern in more)
        rows.append(f"| {aim} | `{file}:{_line_number(file, line)}` | {named} | {len(files)} |")
    return "\n".join(rows)


def _line_number(file: str, beginning: str) -> int:
    """Returns the number of the first line that begins so. Raises ValueError when there is none."""
    for number, text in enumerate((ROOT / file).read_text(encoding="utf-8").splitlines(), start=1):
        if text.strip().startswith(beginning):
            return number
    raise ValueError(f"{file}: {beginning}")


def paper() -> str:
    """Returns each section of the paper with its lesson, its labs and its line of code. Raises ValueError when the line is gone."""
    rows = ["| paper | lesson | labs | code |", "|---|---|---|---|"]
    for section, lesson, labs, file, line in PAPER:
        title = say(ENGLISH, f"course.{lesson}.title")
        named = ", ".join(f"{say(ENGLISH, f'lab_{lab}.title')} (`?tab=labs&lab={lab}`)" for lab in labs)
        rows.append(f"| {section} | {title} (`?tab=course&lesson={lesson}`) | {named} | `{file}:{_line_number(file, line)}` |")
    return "\n".join(rows)


def labs() -> str:
    """Returns the question of every lab, by lesson."""
    groups = []
    for lesson in LESSONS:
        rows = [f"- `{name}`: {say(ENGLISH, f'{LABS[name].area}.short')}" for name in list_labs(lesson)]
        groups += ["\n".join([f"**{lesson.say(ENGLISH, 'title')}**", "", *rows])] if rows else []
    return "\n\n".join(groups)


def trust_tests() -> str:
    """Returns every test marked `trust`, by file; its name is the sentence it proves."""
    files = []
    for path in sorted(path for folder in ("tests", "playground") for path in (ROOT / folder).rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "pytest.mark.trust" not in text:
            continue
        sentences = [
            node.name.removeprefix("test_").replace("_", " ")
            for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
            and ("pytestmark = pytest.mark.trust" in text or "pytest.mark.trust" in map(ast.unparse, node.decorator_list))
        ]
        if sentences:
            files.append(f"- `{path.relative_to(ROOT).as_posix()}`: {'; '.join(sentences)}.")
    return "\n".join(files)


BLOCKS = {"parameters": parameter_table, "paper": paper, "labs": labs, "trust": trust_tests, "quiz": quiz_answers, "where": where}


def renew(text: str) -> str:
    """Regenerates the marked parts of a document."""
    for name, generate in BLOCKS.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        if begin in text:
            before, _, rest = text.partition(begin)
            text = f"{before}{begin}\n{generate()}\n{end}{rest.partition(end)[2]}"
    return text


def _range(name: str) -> str:
    knob = limits(name)
    if knob.text:
        return "an id"
    if knob.choices:
        return ", ".join(_value(choice) for choice in knob.choices)
    return f"{_value(knob.low)} to {_value(knob.high)}" + (
        f" by {_value(knob.step)}" if isinstance(default(name), int) and knob.step > 1 else ""
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value) if value != "" else "–"


def _meaning(name: str) -> str:
    return say(ENGLISH, f"knobs.{name}.help") + (" *Can be changed during a run.*" if name in LIVE_KNOBS else "")


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(renew(document.read_text(encoding="utf-8")), encoding="utf-8")
