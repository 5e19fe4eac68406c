"""Own sentences on the page: files or pasted text, read by reading/uploads, kept for a while under an id that only the page knows."""

from __future__ import annotations

import hmac
import io
import json
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from playground.config import USUAL_STEPS, Experiment, Refusal, check, default, is_possible
from playground.data.suggestion import KNOBS as TAUGHT
from playground.data.suggestion import Suggestion, suggest
from playground.reading import writing
from playground.reading.column_mapping import BY_SOURCE
from playground.reading.encodings import ENCODINGS, Encoding
from playground.reading.filtering import MAX_DROPPED_ROWS
from playground.reading.formats.limits import COLUMN_LIMIT
from playground.reading.uploads import Choices, Pairs, report
from playground.runs import upload_process
from playground.runs.lru import LRU
from playground.runs.names import owner_of
from playground.runs.registry import Runs
from playground.ui import blocks
from playground.ui.view import Screen
from playground.words import listed, say

MOST_KEPT, MOST_BYTES = 100, 200_000_000
PAIR = 170  # bytes of a pair beside its characters
MAX_SUGGESTIONS = 200
FOLLOWING = ("steps", "learning_rate", "dropout")  # what a time in minutes decides on; each goes by those before it


class Kept(NamedTuple):
    """An upload, and the `ticket` of whoever brought it."""

    pairs: Pairs
    ticket: str


def _size(kept: Kept) -> int:
    """In bytes, about; the newest upload is always kept, however large."""
    return min(sum(PAIR + len(source) + len(target) for source, target, _ in kept.pairs.pairs), MOST_BYTES)


KEPT = LRU(MOST_KEPT, MOST_BYTES, _size)  # uploads that no run has taken yet
_SUGGESTED = LRU(MAX_SUGGESTIONS)  # for an upload, beside what somebody has chosen


def ticket_of(token: str) -> str:
    """What opens a visitor's uploads and nothing else: Gradio's listeners, which keep what they are told, are told no token."""
    return _ticket(owner_of(token)) if token else ""


def _ticket(owner: str) -> str:
    return owner_of(f"uploads:{owner}")


def keep(found: Pairs, ticket: str) -> str:
    """Keeps pairs for the run that will want them. Returns their id; those that nobody has asked for longest go when there are too many."""
    own = secrets.token_urlsafe(16)
    KEPT.put(own, Kept(found, ticket))
    return own


def forget(own: str, ticket: str) -> None:
    """An upload that its visitor's page knows no more."""
    if _kept(own, ticket):
        KEPT.pop(own)


def pairs(runs: Runs, experiment: Experiment, token: str) -> tuple[Pairs | None, str]:
    """The pairs an experiment asks for, and whom they are owed to: from a recent upload, or from a run that has them and lets the holder
    of this token see them. Raises Refusal."""
    own = experiment.data.own
    if experiment.data.task != "own":
        return None, ""
    if not own:
        raise Refusal("page.no_upload_yet", knob="task")
    known = _known(runs, own, token)
    return known, known.credit


def read(
    files: list[str] | None, text: str | None, hub: str | None, chosen: str, language: str, ticket: str = "", address: str = ""
) -> dict[str, Any]:
    """Reads what was given and says how it was understood: the id under which it is kept, and all that a person needs to judge and change
    it; or, under "ask", what has to be confirmed first. Only whoever holds the `ticket` gets at them later. `hub` is "owner/name", perhaps
    with a configuration and a split behind; `chosen` is JSON: the fields of `Choices` that somebody has set, nothing for none; from
    an `address` not all is read at once."""
    text, hub = (text or "").strip("\n"), (hub or "").strip()
    there = {"files": files, "text": text.strip(), "hub": hub}
    what = [say(language, f"page.what_{name}") for name, value in there.items() if value]
    if not what:
        raise Refusal("page.nothing_to_read")
    if len(what) > 1:
        raise Refusal("page.two_inputs", what=what)
    try:
        if hub:
            found = upload_process.read_hub(*hub.split()[:3], choices=choices(chosen), asker=(address, ticket))
        else:
            given = _given(files) if files else [(say(language, "page.pasted"), text.encode("utf-8", "replace"))]
            found = upload_process.read(given, choices(chosen), asker=(address, ticket))
    except Refusal as refusal:
        if refusal.key != "data.same_language":
            raise
        return {"ask": refusal.say(language)}
    return {"own": keep(found, ticket), "reading": shown(found, language)}


def again(runs: Runs, own: str, language: str, token: str) -> dict[str, Any]:
    """What `read` said of an upload that is still known, perhaps in another language. Raises Refusal."""
    return {"own": own, "reading": shown(_known(runs, own, token), language)}


def _given(files: list[str]) -> list[tuple[str, bytes]]:
    """Raises Refusal when they are no longer there."""
    try:
        return [(Path(file).name, Path(file).read_bytes()) for file in files]
    except OSError:
        raise Refusal("page.no_upload") from None


def choices(chosen: str) -> Choices:
    """What the page's controls hold. Raises Refusal when it is nothing that they could."""
    try:
        made = Choices(**json.loads(chosen or "{}"))
    except (ValueError, TypeError, RecursionError):
        raise Refusal("page.not_a_choice") from None
    whole = all(value is None or _is_place(value) for value in (made.source, made.target))
    known = set(made.encoding.split(",")) <= {*ENCODINGS, ""} if isinstance(made.encoding, str) else False
    maybe = all(value in (None, True, False) for value in (made.header, made.undo))
    sure = all(value in (True, False) for value in (made.swap, made.same_language))
    more = made.joined is None or (isinstance(made.joined, list) and all(map(_is_place, made.joined)))
    apart = made.group in (None, BY_SOURCE) or _is_place(made.group)
    if not (whole and known and maybe and sure and more and apart):
        raise Refusal("page.not_a_choice")
    return made


def _is_place(value: Any) -> bool:
    return type(value) is int and 0 <= value < COLUMN_LIMIT


def shown(found: Pairs, language: str) -> dict[str, Any]:
    """A reading as the page draws it."""
    names = [column.name or say(language, "page.column", number=place) for place, column in enumerate(found.columns, 1)]
    encodings = [_encoding(one, language) for one in found.encodings if one.name]
    return {
        "name": listed(language, found.names),
        "report": report(found, language),
        "credit": found.credit and say(language, "page.credit", credit=found.credit),
        "columns": names,
        "chosen": found.chosen,
        "joined": found.joined,
        "group": BY_SOURCE if found.group is None else found.group,
        "header": found.header,
        "encodings": encodings,
        "traces": [say(language, f"page.trace_{kind}") for kind in found.traces],
        "undone": found.undone,
        "unit": say(language, f"page.unit_{found.unit}"),
        "rows": [
            row._asdict() | {"why": row.reason and say(language, f"data.why_{row.reason}")}
            for row in found.preview
            if row.reason != "header"
        ],
        "dropped": [
            {
                "why": say(language, f"data.why_{reason}"),
                "count": f"{len(lines):,}",
                "more": len(lines) > MAX_DROPPED_ROWS and say(language, "page.first_rows", count=MAX_DROPPED_ROWS),
                "rows": [row[:2] for row in found.dropped_rows.get(reason, ())],
            }
            for reason, lines in found.dropped.items()
        ],
        "pairs": len(found.pairs),
        "named": found.named,
        "next": say(language, "page.own_next"),
    }


def _encoding(one: Encoding, language: str) -> dict[str, Any]:
    """An encoding and what it may be instead, likelier ones first, each with the name a person knows it by."""
    names = dict.fromkeys((one.name, *one.alternatives, *ENCODINGS))
    options = [(name, say(language, f"data.encoding_{name}")) for name in names]
    return {"file": one.file, "name": one.name, "guessed": one.guessed, "samples": one.samples, "options": options}


def downloads(own: str, count: int, screen: Screen) -> dict:
    """Links to the same sentences in other formats."""
    kinds = [kind for kind in writing.KINDS if kind != "xlsx" or count <= writing.SHEET_LIMIT]
    files = [{"label": screen.say(f"sentences.as_{kind}"), "query": {"own": own, "kind": kind}} for kind in kinds]
    return blocks.downloads("downloads", screen.say("sentences.download"), "export", files)


def exported(runs: Runs, own: str, kind: str, token: str) -> tuple[str, bytes]:
    """(name, content) of the sentences of an upload in one of writing.KINDS; several files in one archive. Raises Refusal."""
    known = _known(runs, own, token)
    if kind not in writing.KINDS:
        raise Refusal("page.no_upload")
    files = writing.write(known.pairs, kind, known.credit)
    if len(files) == 1:
        return files[0]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return f"{kind}.zip", packed.getvalue()


def taught(old: str, new: str, values: Mapping[str, Any], usual: int | None = None, ticket: str = "") -> list:
    """The values of TAUGHT for other data, where nobody has chosen otherwise: `values` are those of now. `old` and `new` are ids of
    uploads, "" for a task of ours, which may have a `usual` number of steps."""
    known, chosen = _kept(new, ticket), chosen_otherwise(_kept(old, ticket), old, values)
    after = suggestion(known, new, chosen).knobs if known else {name: default(name) for name in TAUGHT}
    after |= {"steps": usual} if usual and not known else {}
    return [gr.skip() if name in chosen else after[name] for name in TAUGHT]


def following(pairs: Pairs, own: str, values: Mapping[str, Any], steps: int) -> dict[str, Any]:
    """What so many steps over these pairs go best with, of FOLLOWING behind the steps, where nobody has chosen otherwise."""
    chosen = chosen_otherwise(pairs, own, values)
    after = suggestion(pairs, own, chosen | {"steps": steps}).knobs
    return {name: after[name] for name in FOLLOWING[1:] if name not in chosen}


def chosen_otherwise(pairs: Pairs | None, own: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Of these values those that are neither usual nor what is suggested for these pairs: somebody has chosen them."""
    chosen: dict[str, Any] = {}
    for name in ("batch_unit", "minutes", *TAUGHT):  # in the order of the suggestion: what suits a knob depends on those before it
        value = check(name, values[name]) if is_possible(name, values.get(name)) else default(name)
        usual = value == default(name) or (name == "steps" and value in USUAL_STEPS)
        if not usual and not (pairs and value == suggestion(pairs, own, chosen).knobs.get(name)):
            chosen[name] = value
    return chosen


def suggestion(pairs: Pairs, own: str, given: Mapping[str, Any]) -> Suggestion:
    """What suits the pairs of an upload beside what was given, found once: nothing for pairs that can't be split, which are refused when
    somebody wants to train on them."""

    def found() -> Suggestion:
        try:
            return suggest(pairs, given)
        except Refusal:
            return Suggestion(given, {name: given.get(name, default(name)) for name in TAUGHT})

    return _SUGGESTED.get_or_make((own, tuple(sorted(given.items()))), found)


def found(runs: Runs, own: str, ticket: str) -> Pairs | None:
    """The pairs of the visitor's upload, or of a run that was made of them and is theirs or open to all. None where there are none, and
    where they are somebody else's: nobody learns which."""
    opened = [run for run in runs.find_by_data(own) if run.may_be_read_by("") or _is(ticket, _ticket(run.owner))]
    return _kept(own, ticket) or next((run.pairs for run in opened), None)


def dealt(runs: Runs, own: str) -> Pairs | None:
    """The pairs that a teacher has dealt to a class, for a member of it."""
    kept = KEPT.get(own) if own else None
    return kept.pairs if kept else next((run.pairs for run in runs.find_by_data(own)), None)


def _kept(own: str, ticket: str) -> Pairs | None:
    kept = KEPT.get(own) if own else None
    return kept.pairs if kept and _is(ticket, kept.ticket) else None


def _is(ticket: str, wanted: str) -> bool:
    """In constant time; nobody's ticket opens nothing."""
    return bool(ticket) and hmac.compare_digest(ticket.encode("utf-8", "replace"), wanted.encode("utf-8", "replace"))


def _known(runs: Runs, own: str, token: str) -> Pairs:
    """What `found` gives. Raises Refusal."""
    pairs = found(runs, own, ticket_of(token))
    if pairs is None:
        raise Refusal("page.no_upload", knob="task")
    return pairs
