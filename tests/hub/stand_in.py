"""A Hub of our own: the part of its HTTP interface that uploads and downloads go through, in memory.

Like the real one it refuses binary files in a commit: they are stored first (the LFS protocol), and the commit names their digest.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import yaml

ASKS_S = 0.01  # how often it looks whether it is to end: every test waits for that
TOKEN, READ_ONLY, OWNER = "hf_write", "hf_read", "ada"
COMMIT = "c" * 40


@dataclass
class Hub:
    """What was asked and what is stored."""

    url: str = ""
    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)  # "models/owner/name" -> its files by path
    created: dict[str, dict[str, Any]] = field(default_factory=dict)  # the same -> what it was created with
    stored: dict[str, bytes] = field(default_factory=dict)  # digest -> a binary file
    asked: list[str] = field(default_factory=list)
    takes_binary: bool = False  # in a commit, as if it had no other place for such files
    status: int = 0  # what every request is refused with, if any


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *arguments: object) -> None:
        pass

    def answer(self, value: Any = None, status: int = 200, body: bytes | None = None, **headers: str) -> None:
        body = json.dumps(value).encode() if body is None else body
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def route(self) -> None:
        hub, path = self.hub, self.path.partition("?")[0]
        hub.asked.append(f"{self.command} {path}")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if hub.status:
            return self.answer({"error": "Something is wrong here."}, hub.status)
        for method, pattern, allowed, act in ROUTES:
            found = re.fullmatch(pattern, path)
            if found and self.command in method.split():
                token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
                if allowed and token not in (TOKEN, READ_ONLY):
                    return self.answer({"error": "Invalid username or password."}, 401)
                if allowed == "write" and token != TOKEN:
                    return self.answer({"error": "You don't have the rights to create this."}, 403)
                return act(self, body, *found.groups())
        return self.answer({"error": f"{path} is not part of this stand-in"}, 404, X_Error_Code="RepoNotFound")

    do_GET = do_HEAD = do_POST = do_PUT = route


def whoami(handler: Handler, body: bytes) -> None:
    handler.answer({"name": OWNER, "type": "user"})


def create(handler: Handler, body: bytes) -> None:
    asked = json.loads(body)
    kind, repo = asked.get("type") or "model", f"{asked['organization']}/{asked['name']}"
    if asked["organization"] != OWNER:
        return handler.answer({"error": "You don't have the rights to create this."}, 403)
    key = f"{kind}s/{repo}"
    status = 409 if key in handler.hub.repos else 200
    handler.hub.repos.setdefault(key, {})
    handler.hub.created.setdefault(key, asked)
    return handler.answer({"url": f"{handler.hub.url}/{key.removeprefix('models/')}"}, status)


def validate(handler: Handler, body: bytes) -> None:
    before, *metadata = json.loads(body)["content"].split("---\n", 2)
    right = not before and len(metadata) == 2 and isinstance(yaml.safe_load(metadata[0]), dict)
    handler.answer({"errors": [] if right else [{"message": "no metadata"}], "warnings": []}, 200 if right else 400)


def preupload(handler: Handler, body: bytes, key: str) -> None:
    files = [
        {
            "path": file["path"],
            "uploadMode": "lfs" if refused(handler, base64.b64decode(file["sample"])) else "regular",
            "shouldIgnore": False,
        }
        for file in json.loads(body)["files"]
    ]
    handler.answer({"files": files})


def refused(handler: Handler, data: bytes) -> bool:
    """Whether these are bytes that a commit may not hold."""
    return b"\0" in data and not handler.hub.takes_binary


def batch(handler: Handler, body: bytes, *_: str) -> None:
    href = f"{handler.hub.url}/store/"
    objects = [
        {"oid": one["oid"], "size": one["size"], "actions": {"upload": {"href": href + one["oid"]}}} for one in json.loads(body)["objects"]
    ]
    handler.answer({"transfer": "basic", "objects": objects})


def store(handler: Handler, body: bytes, digest: str) -> None:
    assert hashlib.sha256(body).hexdigest() == digest
    handler.hub.stored[digest] = body
    handler.answer({})


def commit(handler: Handler, body: bytes, key: str) -> None:
    files = handler.hub.repos[key]
    for line in map(json.loads, body.splitlines()):
        value = line["value"]
        if line["key"] == "file":
            data = base64.b64decode(value["content"])
            if refused(handler, data):
                return handler.answer({"error": "Your push was rejected because it contains binary files."}, 400)
            files[value["path"]] = data
        elif line["key"] == "lfsFile":
            files[value["path"]] = handler.hub.stored[value["oid"]]
        elif line["key"] == "deletedFile":
            del files[value["path"]]
    return handler.answer({"commitUrl": f"{handler.hub.url}/{key.removeprefix('models/')}/commit/{COMMIT}", "commitOid": COMMIT})


def info(handler: Handler, body: bytes, key: str) -> None:
    if key not in handler.hub.repos:
        return handler.answer({"error": "Repository not found"}, 404, X_Error_Code="RepoNotFound")
    names = [{"rfilename": name} for name in handler.hub.repos[key]]
    return handler.answer({"id": key.partition("/")[2], "sha": COMMIT, "siblings": names})


def tree(handler: Handler, body: bytes, key: str) -> None:
    files = handler.hub.repos[key]
    handler.answer([{"type": "file", "path": path, "size": len(data), "oid": "0" * 40} for path, data in files.items()])


def resolve(handler: Handler, body: bytes, repo: str, path: str) -> None:
    data = handler.hub.repos.get(f"models/{repo}", {}).get(path)
    if data is None:
        return handler.answer({"error": "Entry not found"}, 404, X_Error_Code="EntryNotFound")
    digest = hashlib.sha256(data).hexdigest()
    return handler.answer(body=data, ETag=f'"{digest}"', X_Repo_Commit=COMMIT, Accept_Ranges="bytes")


KEY = r"((?:models|spaces)/[^/]+/[^/]+)"
ROUTES = (  # methods, path, what the token must allow, and what is done
    ("GET", "/api/whoami-v2", "read", whoami),
    ("POST", "/api/repos/create", "write", create),
    ("POST", "/api/validate-yaml", "", validate),
    ("POST", rf"/api/{KEY}/preupload/main", "write", preupload),
    ("POST", r"/(spaces/)?[^/]+/[^/]+\.git/info/lfs/objects/batch", "write", batch),
    ("PUT", r"/store/(\w+)", "", store),
    ("POST", rf"/api/{KEY}/commit/main", "write", commit),
    ("GET", rf"/api/{KEY}/tree/[^/]+", "", tree),
    ("GET", rf"/api/{KEY}(?:/revision/[^/]+)?", "", info),
    ("GET HEAD", r"/([^/]+/[^/]+)/resolve/[^/]+/(.+)", "", resolve),
)


@contextmanager
def standing_in(port: int = 0) -> Iterator[Hub]:
    """Serves a Hub that holds nothing, until the context is left."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", port), type("HubHandler", (Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(ASKS_S,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
