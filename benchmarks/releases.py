"""The numbers of a release, kept as JSON by version: on one page, and beside those of another release."""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from benchmarks.machine import one_line
from benchmarks.tables import markdown, ratio
from playground import __version__

RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / f"{__version__}.json"
NAMES = ("task", "variant", "d_model", "threads", "setting", "type", "kind", "who", "lab", "panel")  # what tells two rows apart
SINGLE = ("p95", "exact", "bleu", "chrf", "together", "share", "total", "moved")  # single numbers; all others are summaries
MORE_IS_BETTER = (
    "rate", "tokens", "steps_per_second", "tokens_per_second", "heldout", "harder", "right", "exact", "bleu", "chrf", "together", "share",
)  # fmt: skip
SIDE = ("ratio", "padding")  # measured against another row, or of the data: no release is better or worse by them
ABOUT = ("at", "machine", "settings")  # of a benchmark's result
CHANGED = 1.1  # times slower, larger or less that are pointed at
PAGE = (  # patterns of the measures that stand on the one page, against what others reach
    "tasks * default heldout", "tasks reverse * seconds", "page start answer", "page start picture", "page first_load lines * picture",
    "page first_load total", "step_rate * float32 * rate", "classroom * p95", "classroom training share", "peers * seconds",
    "decoding * cpu", "real * bleu", "real * exact",
)  # fmt: skip
RATIOS = "Ratio: of steps, times as fast as nn.Transformer; of decoding, the processor time of ours, lean, is 1."


def keep(name: str, result: dict, path: Path) -> None:
    """Writes the result of a benchmark, as `--json` prints it, and its date, beside those of other benchmarks that the file has."""
    results, now = read(str(path))[0]["benchmarks"] if path.exists() else {}, time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    release = {"version": __version__, "at": now, "benchmarks": results | {name: {"at": now, **result}}}
    path.write_text(json.dumps(release, default=str), encoding="utf-8")


def list_measures(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, float]]:
    """Yields every number that was measured, by its path; of a summary the median. A target that was never reached is left out."""
    if isinstance(value, list):
        for row in (row for row in value if isinstance(row, dict)):
            yield from list_measures(row, (*path, *(str(row[name]) for name in NAMES if name in row)))
    elif isinstance(value, dict) and value.keys() >= {"median", "values"}:
        if value["median"] is not None:
            yield " ".join(path), value["median"]
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from list_measures(part, path if name == "rows" else (*path, name))
    elif path[-1:] and path[-1] in SINGLE and isinstance(value, int | float):
        yield " ".join(path), value


def read(path: str) -> tuple[dict, dict[str, float]]:
    """Reads a kept file, or that of a version. Returns it and its measures. Raises OSError and ValueError."""
    version = RESULTS / f"{path}.json"
    release = json.loads((version if version.exists() else Path(path)).read_text(encoding="utf-8"))
    release["benchmarks"] = {name: {"at": release["at"], **result} for name, result in release["benchmarks"].items()}  # once one for all
    results = {name: {key: part for key, part in release["benchmarks"][name].items() if key not in ABOUT} for name in release["benchmarks"]}
    return release, dict(list_measures(results))


def show_page(path: str) -> str:
    """Returns the numbers of a release that a page has room for, with the machine that they were measured on."""
    release, measures = read(path)
    against = {name: measures.get(f"{name.rpartition(' ')[0]} ratio") for name in measures}
    rows = [
        (name, f"{value:.4g}", ratio(against[name]) if against[name] is not None else "")
        for name, value in measures.items()
        if any(fnmatch(name, pattern) for pattern in PAGE)
    ]
    machines = {one_line(result["machine"] | {"load_before": None}) for result in release["benchmarks"].values()}
    dates = "Measured: " + ", ".join(f"{name} {result['at']}" for name, result in release["benchmarks"].items())
    return "\n\n".join([f"# {release['version']}", dates, *machines, markdown(("what", "median", "ratio"), rows), RATIOS])


def compare(first: str, second: str) -> str:
    """Returns all numbers of two releases side by side; how many times as good the second is, with a mark where it is worse."""
    (old, before), (new, after) = read(first), read(second)
    rows = []
    for name in sorted(before.keys() & after.keys()):
        if name.rpartition(" ")[2] in SIDE:
            continue
        more = name.rpartition(" ")[2] in MORE_IS_BETTER
        better, worse = (after[name], before[name]) if more else (before[name], after[name])
        gain = better / worse if worse else 1.0 if better == worse else float("inf")
        rows.append((gain, (name, f"{before[name]:.4g}", f"{after[name]:.4g}", ratio(gain), "worse" if gain * CHANGED < 1 else "")))
    head = ("what", *(f"{release['version']}, {release['at']}" for release in (old, new)), "times as good", "")
    return markdown(head, [row for _, row in sorted(rows, key=lambda pair: pair[0])])


def main(arguments: Sequence[str]) -> int:
    """`show A` prints one release, `compare A B` two; A and B are versions or files."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("act", choices=("show", "compare"))
    parser.add_argument("files", nargs="+", metavar="A")
    options = parser.parse_args(arguments)
    if len(options.files) != (1 if options.act == "show" else 2):
        parser.error("show takes one, compare two")
    try:
        print(show_page(*options.files) if options.act == "show" else compare(*options.files))
    except (OSError, ValueError, KeyError) as problem:
        parser.error(f"not a kept file: {problem}")
    return 0
