"""How the tests of panels look for a block, wait for the end of what comes in parts, and know what its kind declares."""

import json
import types
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, is_typeddict

import httpx

from playground.features.shared.blocks import KINDS, Block
from playground.ui.assets import PREFIX
from tests.js.typedefs import fields_of

TINY = {
    "train_size": 100, "validation_size": 20, "d_model": 8, "n_heads": 2, "encoder_layers": 1, "decoder_layers": 1, "d_ff": 8,
    "batch_size": 8, "steps": 4, "eval_every": 2, "threads": 1,
}  # fmt: skip
DECLARED = cache(fields_of)
PLAIN = {str: str, bool: bool, int: int, float: (int, float), type(None): type(None)}


def all_blocks(blocks: list[dict]) -> Iterator[dict]:
    for block in blocks:
        yield block
        yield from all_blocks(block.get("blocks", []))


def find(panel: dict, id: str) -> dict | None:
    """The block of that name; a row only where nothing in it has the same."""
    named = [block for block in all_blocks(panel["blocks"]) if block["id"] == id]
    return min(named, key=lambda block: block["kind"] == "row", default=None)


def block(panel: dict, id: str) -> dict:
    found = find(panel, id)
    assert found, f"there is no {id} in {sorted(ids(panel))}"
    return found


def ids(panel: dict) -> set[str]:
    return {block["id"] for block in all_blocks(panel["blocks"])}


def figures(panel: dict) -> list[dict]:
    return [block for block in all_blocks(panel["blocks"]) if block["kind"] == "figure"]


def complete(site: Any, name: str, **asked: Any) -> dict:
    while (panel := site.panel(name, **asked)).get("more"):
        assert "error" not in panel, panel
    return panel


def panel_of(site: Any, token: str, name: str = "runs", **asked: str) -> dict:
    answer = site.http.get(f"{PREFIX}/panel/{name}", params={"run": "reverse"} | asked, headers={"X-Playground-Token": token}).json()
    assert "error" not in answer, answer
    assert not [fault for one in answer["blocks"] for fault in faults(one)]
    return answer


def faults(block: dict, where: str = "") -> Iterator[str]:
    """What is wrong with a block of a panel as the page gets it: a sentence each."""
    at = f"{where}/{block.get('kind')} {block.get('id')}"
    if block.get("kind") not in KINDS:
        yield f"{at}: no such kind"
        return
    fields = DECLARED(KINDS[block["kind"]])
    yield from _keys(at, block.keys() - {"kind"}, set(fields), set(fields))
    for name in fields.keys() & block.keys():
        yield from _wrong(f"{at}.{name}", block[name], fields[name])


def _keys(at: str, found: set[str], known: set[str], needed: set[str]) -> Iterator[str]:
    yield from (f"{at}: {name} isn't declared" for name in sorted(found - known))
    yield from (f"{at}: {name} is missing" for name in sorted(needed - found))


def _wrong(at: str, value: Any, hint: Any) -> Iterator[str]:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Block:
        yield from faults(value, at)
    elif is_typeddict(hint) and isinstance(value, dict):
        fields = DECLARED(hint)
        yield from _keys(at, set(value), set(fields), set(hint.__required_keys__))
        for name in fields.keys() & value.keys():
            yield from _wrong(f"{at}.{name}", value[name], fields[name])
    elif origin in (Union, types.UnionType):
        if all(any(_wrong(at, value, one)) for one in inner):
            yield f"{at}: {str(value)[:60]!r} is none of {hint}"
    elif origin is Literal:
        if value not in inner:
            yield f"{at}: {value!r} is none of {inner}"
    elif origin in (list, tuple) and isinstance(value, list):
        for place, one in enumerate(value):
            yield from _wrong(f"{at}[{place}]", one, inner[0 if origin is list else place])
    elif origin is dict and isinstance(value, dict):
        for name, one in value.items():
            yield from _wrong(f"{at}[{name}]", one, inner[1])
    elif hint is not Any and not (hint in PLAIN and isinstance(value, PLAIN[hint]) and (hint is bool or not isinstance(value, bool))):
        yield f"{at}: {str(value)[:60]!r} is no {hint}"


NAMES = ("train", "status", "translate", "attention", "read_pairs", "read_file", "open_run", "stop", "delete", "labs", "curves", "runs",
         "lab")  # fmt: skip


def begin(site, name: str, body: Any, way: str = "call/v2") -> httpx.Response:
    """`body` is JSON, or bytes that are meant as such."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Connection": "close"}
    return site.http.post(f"/gradio_api/{way}/{name}", content=content, headers=headers)


def ended(site, name: str, begun: httpx.Response) -> tuple[str, Any]:
    """(how it ended, what was told)."""
    assert begun.status_code == 200, begun.text
    answer = site.http.get(f"/gradio_api/call/{name}/{begun.json()['event_id']}", headers={"Connection": "close"}).text
    event, data = answer.strip().rsplit("event: ", 1)[1].split("\ndata: ")
    return event, json.loads(data, parse_constant=None)


def call(site, name: str, /, **values: Any) -> dict[str, Any]:
    event, data = ended(site, name, begin(site, name, values))
    assert event == "complete", data
    return data[0]


def refused(site, name: str, /, **values: Any) -> tuple[str, str]:
    """(key, sentence) of a call that can't be answered."""
    event, data = ended(site, name, begin(site, name, values))
    assert event == "error", data
    return data["title"], data["error"]
