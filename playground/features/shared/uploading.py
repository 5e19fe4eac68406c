"""Uploads of own sentences, files or pasted text: read by reading/uploads and cached under an id that only the visitor's page knows."""

import hmac
import io
import json
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from playground.config import USUAL_STEPS, Experiment, Refusal, check, default, is_possible
from playground.data.corpus import draw_pairs
from playground.data.suggestion import KNOBS as SUGGESTED, Suggestion, suggest
from playground.features.shared import blocks
from playground.features.shared.view import Screen
from playground.reading import writing
from playground.reading.column_mapping import BY_SOURCE, Choices
from playground.reading.encodings import ENCODINGS, Encoding
from playground.reading.filtering import MAX_DROPPED_ROWS
from playground.reading.formats import COLUMN_LIMIT
from playground.reading.pairs import Pairs, report
from playground.runs import upload_process
from playground.runs.identity import owner_of
from playground.runs.memory import LRU
from playground.runs.registry import Runs
from playground.words import listed, say

MAX_UPLOADS, MAX_BYTES = 100, 200_000_000
PAIR_BYTES = 170  # bytes of a pair beside its characters
MAX_SUGGESTIONS = 200
TIMED = ("steps", "learning_rate", "dropout")  # set by a time in minutes; each depends on those before it


class Upload(NamedTuple):
    """An upload and its visitor's `ticket`."""

    pairs: Pairs
    ticket: str


def _upload_bytes(upload: Upload) -> int:
    """Returns an upload's approximate size in bytes, capped: the newest upload is always cached, however large."""
    return min(sum(PAIR_BYTES + len(source) + len(target) for source, target, _ in upload.pairs.pairs), MAX_BYTES)


UPLOADS = LRU(MAX_UPLOADS, MAX_BYTES, _upload_bytes)  # uploads not yet used by a run
_SUGGESTIONS = LRU(MAX_SUGGESTIONS)  # by upload and the visitor's own settings


def ticket_of(token: str) -> str:
    """Returns a ticket for a visitor's uploads. Gradio stores its listeners' inputs, so they never receive the token itself."""
    return _owner_ticket(owner_of(token)) if token else ""


def _owner_ticket(owner: str) -> str:
    return owner_of(f"uploads:{owner}")


def store_upload(pairs: Pairs, ticket: str) -> str:
    """Caches pairs for a later run and returns their id; evicts the least recently used ones."""
    own = secrets.token_urlsafe(16)
    UPLOADS.put(own, Upload(pairs, ticket))
    return own


def forget(own: str, ticket: str) -> None:
    """Drops an upload that its visitor's page has replaced."""
    if _stored_pairs(own, ticket):
        UPLOADS.pop(own)


def experiment_pairs(runs: Runs, experiment: Experiment, token: str) -> tuple[Pairs | None, str]:
    """Returns the pairs of an experiment and their credit, from a recent upload or from a run whose sentences this token may read. Raises
    Refusal."""
    own = experiment.data.own
    if experiment.data.task != "own":
        return None, ""
    if not own:
        raise Refusal("page.no_upload_yet", knob="task")
    known = _require_pairs(runs, own, token)
    return known, known.credit


def tuning_pairs(runs: Runs, experiment: Experiment, token: str) -> tuple[Experiment, Pairs]:
    """Returns an experiment on own pairs for a run to be fine-tuned, and the pairs: as `experiment_pairs`, or sentences drawn from a task,
    which become an upload of the visitor's. Raises Refusal."""
    if experiment.data.task == "own":
        return experiment, experiment_pairs(runs, experiment, token)[0]
    pairs = draw_pairs(experiment.data)
    return experiment.with_(task="own", own=store_upload(pairs, ticket_of(token))), pairs


def read_upload(
    files: list[str] | None, text: str | None, hub: str | None, chosen: str, language: str, ticket: str = "", address: str = ""
) -> dict[str, Any]:
    """Reads files, pasted text or a data set of the Hub. Returns the id of the cached upload and its interpretation, for the visitor to
    check and change; or, under "ask", a question to confirm first. Later access needs the `ticket`. `hub` is "owner/name", optionally
    followed by a configuration and a split; `chosen` is JSON: the fields of `Choices` that the visitor has set, or ""; uploads of one
    `address` take turns."""
    text, hub = (text or "").strip("\n"), (hub or "").strip()
    inputs = {"files": files, "text": text.strip(), "hub": hub}
    input_names = [say(language, f"page.what_{name}") for name, value in inputs.items() if value]
    if not input_names:
        raise Refusal("page.nothing_read_yet")
    if len(input_names) > 1:
        raise Refusal("page.two_inputs", what=input_names)
    try:
        if hub:
            pairs = upload_process.read_hub(*hub.split()[:3], choices=parse_choices(chosen), asker=(address, ticket))
        else:
            named_files = read_paths(files) if files else [(say(language, "page.pasted"), text.encode("utf-8", "replace"))]
            pairs = upload_process.read(named_files, parse_choices(chosen), asker=(address, ticket))
    except Refusal as refusal:
        if refusal.key != "data.same_language":
            raise
        return {"ask": refusal.say(language)}
    return {"own": store_upload(pairs, ticket), "reading": describe_pairs(pairs, language)}


def describe_upload(runs: Runs, own: str, language: str, token: str) -> dict[str, Any]:
    """Returns the result of `read_upload` for a cached upload, perhaps in another language. Raises Refusal."""
    return {"own": own, "reading": describe_pairs(_require_pairs(runs, own, token), language)}


def read_paths(files: list[str]) -> list[tuple[str, bytes]]:
    """Reads uploaded files. Raises Refusal if they have been deleted."""
    try:
        return [(Path(file).name, Path(file).read_bytes()) for file in files]
    except OSError:
        raise Refusal("page.no_upload") from None


def parse_choices(chosen: str) -> Choices:
    """Parses the choices of the page's controls. Raises Refusal for an impossible one."""
    try:
        parsed = Choices(**json.loads(chosen or "{}"))
    except (ValueError, TypeError, RecursionError):
        raise Refusal("page.not_a_choice") from None
    columns_fit = all(value is None or _is_column(value) for value in (parsed.source, parsed.target))
    encoding_fits = set(parsed.encoding.split(",")) <= {*ENCODINGS, ""} if isinstance(parsed.encoding, str) else False
    optional_fit = all(value in (None, True, False) for value in (parsed.header, parsed.undo))
    flags_fit = all(value in (True, False) for value in (parsed.swap, parsed.same_language))
    joined_fit = parsed.joined is None or (isinstance(parsed.joined, list) and all(map(_is_column, parsed.joined)))
    group_fits = parsed.group in (None, BY_SOURCE) or _is_column(parsed.group)
    if not (columns_fit and encoding_fits and optional_fit and flags_fit and joined_fit and group_fits):
        raise Refusal("page.not_a_choice")
    return parsed


def _is_column(value: Any) -> bool:
    return type(value) is int and 0 <= value < COLUMN_LIMIT


def describe_pairs(pairs: Pairs, language: str) -> dict[str, Any]:
    """Describes an upload for the page."""
    names = [column.name or say(language, "page.column", number=place) for place, column in enumerate(pairs.columns, 1)]
    encodings = [_describe_encoding(encoding, language) for encoding in pairs.encodings if encoding.name]
    return {
        "name": listed(language, pairs.names),
        "report": report(pairs, language),
        "credit": pairs.credit and say(language, "page.credit", credit=pairs.credit),
        "columns": names,
        "chosen": pairs.chosen,
        "joined": pairs.joined,
        "group": BY_SOURCE if pairs.group is None else pairs.group,
        "header": pairs.header,
        "encodings": encodings,
        "traces": [say(language, f"page.trace_{kind}") for kind in pairs.traces],
        "undone": pairs.undone,
        "unit": say(language, f"page.unit_{pairs.unit}"),
        "rows": [
            row._asdict() | {"why": row.reason and say(language, f"data.why_{row.reason}")}
            for row in pairs.preview
            if row.reason != "header"
        ],
        "dropped": [
            {
                "why": say(language, f"data.why_{reason}"),
                "count": f"{len(lines):,}",
                "more": len(lines) > MAX_DROPPED_ROWS and say(language, "page.first_rows", count=MAX_DROPPED_ROWS),
                "rows": [row[:2] for row in pairs.dropped_rows.get(reason, ())],
            }
            for reason, lines in pairs.dropped.items()
        ],
        "pairs": len(pairs.pairs),
        "named": pairs.named,
        "next": say(language, "page.own_next"),
    }


def _describe_encoding(encoding: Encoding, language: str) -> dict[str, Any]:
    """Describes an encoding and its alternatives, likelier ones first, each with its common name."""
    names = dict.fromkeys((encoding.name, *encoding.alternatives, *ENCODINGS))
    options = [(name, say(language, f"data.encoding_{name}")) for name in names]
    return {"file": encoding.file, "name": encoding.name, "guessed": encoding.guessed, "samples": encoding.samples, "options": options}


def download_links(own: str, count: int, screen: Screen) -> dict:
    """Returns links to the same sentences in other formats."""
    kinds = [kind for kind in writing.KINDS if kind != "xlsx" or count <= writing.SHEET_LIMIT]
    files = [{"label": screen.say(f"sentences.as_{kind}"), "query": {"own": own, "kind": kind}} for kind in kinds]
    return blocks.downloads("downloads", screen.say("sentences.download"), "export", files)


def export_upload(runs: Runs, own: str, kind: str, token: str) -> tuple[str, bytes]:
    """Returns (name, content) of an upload in one of writing.KINDS; several files in one archive. Raises Refusal."""
    pairs = _require_pairs(runs, own, token)
    if kind not in writing.KINDS:
        raise Refusal("page.no_upload")
    files = writing.write(pairs.pairs, kind, pairs.credit)
    if len(files) == 1:
        return files[0]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return f"{kind}.zip", buffer.getvalue()


def values_for(old: str, new: str, values: Mapping[str, Any], usual: int | None = None, ticket: str = "") -> dict[str, Any]:
    """Returns the values of SUGGESTED for other data, without knobs that the visitor has chosen: `values` are the current ones. `old` and
    `new` are ids of uploads, "" for a built-in task, which may have a `usual` number of steps."""
    new_pairs, chosen = _stored_pairs(new, ticket), chosen_values(_stored_pairs(old, ticket), old, values)
    values_after = suggest_for(new_pairs, new, chosen).knobs if new_pairs else {name: default(name) for name in SUGGESTED}
    values_after |= {"steps": usual} if usual and not new_pairs else {}
    return {name: values_after[name] for name in SUGGESTED if name not in chosen}


def timed_values(pairs: Pairs, own: str, values: Mapping[str, Any], steps: int) -> dict[str, Any]:
    """Returns the best TIMED knobs for this number of steps over these pairs, without those the visitor has chosen."""
    chosen = chosen_values(pairs, own, values)
    suggested = suggest_for(pairs, own, chosen | {"steps": steps}).knobs
    return {name: suggested[name] for name in TIMED[1:] if name not in chosen}


def chosen_values(pairs: Pairs | None, own: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values that the visitor has chosen: neither usual ones nor those suggested for these pairs."""
    chosen: dict[str, Any] = {}
    for name in ("batch_unit", "minutes", *SUGGESTED):  # in the order of the suggestion, where each knob depends on those before it
        value = check(name, values[name]) if is_possible(name, values.get(name)) else default(name)
        usual = value == default(name) or (name == "steps" and value in USUAL_STEPS)
        if not usual and not (pairs and value == suggest_for(pairs, own, chosen).knobs.get(name)):
            chosen[name] = value
    return chosen


def suggest_for(pairs: Pairs, own: str, chosen: Mapping[str, Any]) -> Suggestion:
    """Returns the cached suggestion for an upload, given the visitor's choices: nothing for pairs that can't be split, which are refused
    when training starts."""

    def compute() -> Suggestion:
        try:
            return suggest(pairs, chosen)
        except Refusal:
            return Suggestion(chosen, {name: chosen.get(name, default(name)) for name in SUGGESTED})

    return _SUGGESTIONS.get_or_make((own, tuple(sorted(chosen.items()))), compute)


def find_pairs(runs: Runs, own: str, ticket: str) -> Pairs | None:
    """Returns the pairs of a visitor's upload, or of a readable run made of them; None if missing, or another visitor's: both look the
    same."""
    readable_runs = [run for run in runs.find_by_data(own) if run.may_be_read_by("") or _matches(ticket, _owner_ticket(run.owner))]
    return _stored_pairs(own, ticket) or next((run.pairs for run in readable_runs), None)


def dealt_pairs(runs: Runs, own: str) -> Pairs | None:
    """Returns the pairs that a teacher has dealt to a class, for its members."""
    upload = UPLOADS.get(own) if own else None
    return upload.pairs if upload else next((run.pairs for run in runs.find_by_data(own)), None)


def _stored_pairs(own: str, ticket: str) -> Pairs | None:
    upload = UPLOADS.get(own) if own else None
    return upload.pairs if upload and _matches(ticket, upload.ticket) else None


def _matches(ticket: str, expected: str) -> bool:
    """Compares tickets in constant time; an empty ticket opens nothing."""
    return bool(ticket) and hmac.compare_digest(ticket.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))


def _require_pairs(runs: Runs, own: str, token: str) -> Pairs:
    """Returns the pairs that `find_pairs` returns. Raises Refusal for None."""
    pairs = find_pairs(runs, own, ticket_of(token))
    if pairs is None:
        raise Refusal("page.no_upload", knob="task")
    return pairs
