"""How a program calls the endpoints: one request that begins, and one that waits for the answer."""

import json
from typing import Any

import httpx

NAMES = ("train", "status", "translate", "attention", "read_pairs", "read_file", "stop", "delete", "labs", "curves", "runs", "lab")


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
