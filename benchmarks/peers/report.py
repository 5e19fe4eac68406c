"""What the trainings of peers and presets come to: rows, ratios, tables."""

from __future__ import annotations

from benchmarks.tables import markdown, percent, ratio, seconds, shown, summary, whole

NAMES = {"plain": "nn.Transformer", "xtransformer": "x-transformers", "joey": "Joey NMT"}
SETTINGS = {"own": "its own", "equal": "equal size and dropout", "ours": "ours"}
BEFORE = "Seconds begin with the pairs as token ids (ours: before they are drawn) and include every examination."


def rows(trainings: list[dict]) -> list[dict]:
    """One for every peer or preset, setting and number of threads; each value is a summary over the seeds.

    "seconds" and "cpu_seconds" to the target, None where it was not reached; "steps_per_second" and "tokens_per_second" (source and
    target, without padding) of training alone, "padding" the share of computed cells that held none; "right" the last exact match and
    "steps" when it was found.
    """
    groups: dict[tuple, list[dict]] = {}
    for found in trainings:
        groups.setdefault((found["who"], found["setting"], found["threads"]), []).append(found)
    return [
        {
            "who": who,
            "setting": setting,
            "threads": threads,
            "size": group[0].get("size"),
            "parameters": group[0]["parameters"],
            "seconds": summary(one["seconds"] if one["reached"] else None for one in group),
            "cpu_seconds": summary(one["cpu_seconds"] if one["reached"] else None for one in group),
            "steps_per_second": summary(one["step"] / _training(one) for one in group),
            "tokens_per_second": summary(one["tokens"] / _training(one) for one in group),
            "padding": summary(1 - one["tokens"] / one["cells"] for one in group),
            "right": summary(one["exact_match"] for one in group),
            "steps": summary(one["step"] for one in group),
            "reached": sum(one["reached"] for one in group),
            "of": len(group),
        }
        for (who, setting, threads), group in groups.items()
    ]


def ratios(found: list[dict], limit: float) -> list[dict]:
    """Seconds of the best peer in a setting, with the threads that served it best, against seconds of each preset and number of threads.

    When no peer reached the target, "peer" is None and "seconds" is the limit: the ratio is more than that. Medians over the seeds. A
    preset that did not reach the target has no ratio.
    """
    ours = [row for row in found if row["setting"] == "ours"]
    answers = []
    for setting in {row["setting"]: None for row in found if row["setting"] != "ours"}:
        peers = [row for row in found if row["setting"] == setting]
        best = min((row for row in peers if row["seconds"]["median"]), key=lambda row: row["seconds"]["median"], default=None)
        theirs = best["seconds"]["median"] if best else limit
        for row in ours:
            own = row["seconds"]["median"]
            answer = {"setting": setting, "peer": best and best["who"], "peer_threads": best and best["threads"], "seconds": theirs}
            answer |= {"preset": row["who"], "threads": row["threads"], "preset_seconds": own, "ratio": theirs / own if own else None}
            answers.append(answer)
    return answers


def written(result: dict) -> str:
    limit = f"not by {result['limit']:g} s"
    head = ("who", "settings", "d_model", "pairs", "threads", "parameters", "steps/s", "tokens/s", "padding", "seconds", "CPU s", "right")
    lines = [
        (
            NAMES.get(row["who"], row["who"]),
            SETTINGS[row["setting"]],
            *(str(row["size"][name]) if row["size"] else "–" for name in ("d_model", "pairs")),
            str(row["threads"]),
            whole(row["parameters"]),
            shown(row["steps_per_second"], lambda value: f"{value:.3g}"),
            shown(row["tokens_per_second"], whole),
            shown(row["padding"], percent),
            shown(row["seconds"], seconds) if row["reached"] else _never(row, limit),
            shown(row["cpu_seconds"], seconds) if row["reached"] else "–",
            shown(row["right"], percent),
        )
        for row in result["rows"]
    ]
    against = (
        (
            SETTINGS[row["setting"]],
            f"{_named(NAMES[row['peer']], row['peer_threads'])}: {seconds(row['seconds'])} s" if row["peer"] else f"none: {limit}",
            _named(row["preset"], row["threads"]),
            "–" if row["preset_seconds"] is None else f"{seconds(row['preset_seconds'])} s",
            "–" if row["ratio"] is None else ("" if row["peer"] else "more than ") + ratio(row["ratio"]),
        )
        for row in result["ratios"]
    )
    again = f"Seconds to {result['target']:.0%}. {BEFORE} Fresh seeds from {result['first_seed']} on; --first-seed repeats them."
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    tables = [markdown(head, lines), markdown(("settings", "best peer", "against", "its seconds", "ratio"), against)]
    return "\n\n".join([tables[0], again, tables[1], f"Versions: {versions}.", *result["missing"]])


def _never(row: dict, limit: str) -> str:
    """What ended a training that did not reach the target: time for a peer, the experiment's last step for a preset."""
    return f"not in {whole(row['steps']['high'])} steps" if row["setting"] == "ours" else limit


def _training(found: dict) -> float:
    """Seconds of steps alone."""
    return found["seconds"] - found["preparing"] - found["validating"]


def _named(who: str, threads: int) -> str:
    return f"{who} on {threads} thread{'s' if threads > 1 else ''}"
