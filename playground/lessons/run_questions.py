"""Questions of lessons about the run on screen: the correct guess is computed when the answer is shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.config import Refusal
from playground.features.shared.queries.reader import Reader
from playground.features.translate.query import DecodingOptions, count_samples, translate
from playground.runs.run import Run

STRANGERS = ("☂", "☃")  # in no vocabulary
DRAWN = 100  # samples
AHEAD = 0.9  # token accuracy
RECENT = 10  # steps, or all when there are fewer
ASKED = ("pairs", "all_pairs")  # sizes of the validation and of all held-out data: a smaller one is a sample, and the page says so
APART = 1.5  # ratio from which two losses differ

Answer = tuple[str, Mapping[str, Any]]  # the correct guess, and values for its message


@dataclass(frozen=True)
class Question:
    """`answer(reader, run, step, text)`; step None is the latest. Raises Refusal while the run can't answer yet."""

    guesses: tuple[str, ...]
    answer: Callable[[Reader, Run, int | None, str], Answer]


def looks(reader: Reader, run: Run, step: int | None, text: str) -> Answer:
    """Locates the maximum of the last layer's cross-attention, averaged over heads, for the first output token."""
    look = reader.look(run, step, text)
    if not look.cross.size:
        raise Refusal("course.no_attention")
    weights = look.cross[-1, :, 0].mean(axis=0)  # (S,)
    most, last = int(weights.argmax()), len(look.source) - 2  # EOS follows the last token
    place = {last: "last", 0: "first"}.get(most, "elsewhere")
    numbers = {
        "token": look.source[most].text, "written": look.targets[0].text, "percent": float(100 * weights[most]), "length": last + 1,
    }  # fmt: skip
    return place if weights[most] >= 0.5 else "nowhere", numbers


def unknown(reader: Reader, run: Run, step: int | None, text: str) -> Answer:
    """Compares the outputs for two sentences that differ in one unknown token."""
    joint = "" if reader.units(run)[0] == "characters" else " "
    first, second = (translate(reader, run, step, f"{stranger}{joint}{text}").candidates[0].text for stranger in STRANGERS)
    numbers = {"first": STRANGERS[0], "second": STRANGERS[1], "one": first or "–", "other": second or "–"}
    return "same" if first == second else "other", numbers


def tokens_first(reader: Reader, run: Run, step: int | None, text: str) -> Answer:
    """Measures exact match when token accuracy first reached AHEAD, else at the last validation."""
    rows = run.history.validations.rows()
    if not rows["step"]:
        raise Refusal("course.not_measured")
    at = next((at for at, share in enumerate(rows["token_accuracy"]) if share >= AHEAD), len(rows["step"]) - 1)
    exact = rows["exact_match"][at]
    numbers = {"step": int(rows["step"][at]), "tokens": 100 * rows["token_accuracy"][at], "exact": 100 * exact}
    numbers |= {name: int(rows[name][at]) for name in ASKED}
    return "most" if exact >= 0.9 else "some" if exact >= 0.5 else "few", numbers


def draws(reader: Reader, run: Run, step: int | None, text: str) -> Answer:
    """Measures the share of the most frequent of DRAWN sampled outputs."""
    output, times, _ = count_samples(reader, run, step, text, DecodingOptions(method="sample"), DRAWN)[0]
    return "all" if times >= 0.9 * DRAWN else "most" if times >= 0.6 * DRAWN else "half", {"top": times, "all": DRAWN, "output": output}


def gap(reader: Reader, run: Run, step: int | None, text: str) -> Answer:
    """Compares the latest validation loss with the recent training loss."""
    losses, last = run.history.steps.column("loss")[-RECENT:], run.history.validations.last()
    if not losses or last is None:
        raise Refusal("course.not_measured")
    trained, heldout = sum(losses) / len(losses), last["loss"]
    answer = "larger" if heldout > APART * trained else "smaller" if trained > APART * heldout else "same"
    return answer, {"trained": trained, "heldout": heldout, "exact": 100 * last["exact_match"]} | {name: int(last[name]) for name in ASKED}


LOOKS = Question(("first", "last", "elsewhere", "nowhere"), looks)
UNKNOWN = Question(("same", "other"), unknown)
TOKENS_FIRST = Question(("most", "some", "few"), tokens_first)
DRAWS = Question(("all", "most", "half"), draws)
GAP = Question(("smaller", "same", "larger"), gap)
