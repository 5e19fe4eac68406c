"""A stand-in for the Hub over HTTP: signing in by OAuth, and repositories, as huggingface_hub creates, fills and reads them."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from huggingface_hub import constants

from tests.browser.server import serving

APP = {"OAUTH_CLIENT_ID": "app", "OAUTH_CLIENT_SECRET": "secret", "OAUTH_SCOPES": "openid profile contribute-repos"}


class Hub:
    """A Hub in memory. `user` is signed in there in every browser; `refusals` are statuses by part of a path; uploads wait for `open`."""

    def __init__(self) -> None:
        self.url, self.user, self.codes, self.objects, self.requests = "", "ada", {}, {}, []
        self.tokens = {"hf_write": "ada"}
        self.repos: dict[str, dict[str, bytes]] = {}  # files by the path of a repository
        self.created: dict[str, dict] = {}  # what was asked for with each
        self.refusals: dict[str, int] = {}
        self.open = threading.Event()
        self.open.set()

    def authorize(self, query: dict) -> str:
        """Returns the address to which the visitor is led back."""
        assert (query["client_id"], query["response_type"], query["code_challenge_method"]) == ("app", "code", "S256")
        assert query["scope"] == APP["OAUTH_SCOPES"]
        code = f"code{len(self.codes)}"
        self.codes[code] = self.user, query["code_challenge"], query["redirect_uri"]
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def grant(self, form: dict, authorization: str) -> dict | int:
        user, challenge, redirect = self.codes.pop(form["code"], ("", "", ""))
        digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        client = "Basic " + base64.b64encode(b"app:secret").decode()
        if (authorization, digest, form["redirect_uri"]) != (client, challenge, redirect):
            return 400
        self.tokens[token := f"hf_oauth_{user}"] = user
        return {"access_token": token, "token_type": "bearer", "expires_in": 28800}

    def create(self, user: str, wanted: dict) -> tuple[int, dict] | int:
        repo = f"{wanted['organization']}/{wanted['name']}"
        path = repo if wanted.get("type", "model") == "model" else f"{wanted['type']}s/{repo}"
        if wanted["organization"] != user:
            return 403
        status = 409 if path in self.repos else 200
        self.repos.setdefault(path, {})
        self.created[path] = wanted
        return status, {"url": f"{self.url}/{path}"}

    def commit(self, path: str, lines: bytes) -> dict:
        for line in map(json.loads, lines.splitlines()):
            value = line["value"]
            if line["key"] == "file":
                self.repos[path][value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                self.repos[path][value["path"]] = self.objects[value["oid"]]
            elif line["key"] == "deletedFile":
                del self.repos[path][value["path"]]
        return {"commitUrl": f"{self.url}/{path}/commit/{'0' * 40}", "commitOid": "0" * 40}

    def reply(self, method: str, path: str, query: dict, body: bytes, headers: dict) -> dict | int | tuple[int, dict] | str | bytes:
        """Returns JSON, a status or both, an address that it leads to, or a file."""
        if refused := next((status for part, status in self.refusals.items() if part in path), 0):
            return refused
        if path == "/oauth/authorize":
            return self.authorize(query)
        if path == "/oauth/token":
            return self.grant({name: values[0] for name, values in parse_qs(body.decode()).items()}, headers["Authorization"])
        if path.startswith("/lfs/"):
            self.objects[path.removeprefix("/lfs/")] = body
            return {}
        user = self.tokens.get(headers.get("Authorization", "").removeprefix("Bearer "))
        if user is None:
            return 401
        if path == "/oauth/userinfo":
            return {"preferred_username": user}
        if path == "/api/repos/create":
            return self.create(user, json.loads(body))
        if path == "/api/validate-yaml":
            return {}
        if path.endswith("/info/lfs/objects/batch"):
            self.open.wait(30)
            objects = [item | {"actions": {"upload": {"href": f"{self.url}/lfs/{item['oid']}"}}} for item in json.loads(body)["objects"]]
            return {"objects": objects, "transfer": "basic"}
        repo, _, rest = path.removeprefix("/api").removeprefix("/models").strip("/").partition("/resolve/main/")
        if rest:
            return self.repos.get(repo, {}).get(rest, 404)
        if path.endswith("/tree/main"):
            return [{"type": "file", "path": path, "size": 1, "oid": "0"} for path in self.repos[repo.removesuffix("/tree/main")]]
        if method == "GET":
            return {"id": repo} if repo in self.repos else 404
        repo, _, act = repo.rpartition("/")[0].rpartition("/")
        if act == "preupload":
            files = [item["path"] for item in json.loads(body)["files"]]
            mode = {path: "lfs" if path.endswith((".safetensors", ".tar")) else "regular" for path in files}
            return {"files": [{"path": path, "uploadMode": mode[path], "shouldIgnore": False} for path in files]}
        return self.commit(repo, body) if act == "commit" else {}


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        body, query = self.rfile.read(int(self.headers["Content-Length"] or 0)), {k: v[0] for k, v in parse_qs(parts.query).items()}
        self.hub.requests.append(f"{self.command} {parts.path}")
        reply = self.hub.reply(self.command, parts.path, query, body, self.headers)
        more = {"Location": reply} if isinstance(reply, str) else {}
        reply = {int: (reply, {"error": "no"}), tuple: reply, str: (302, {})}.get(type(reply), (200, reply))
        status, content = reply[0], reply[1] if isinstance(reply[1], bytes) else json.dumps(reply[1]).encode()
        more |= {"X-Repo-Commit": "0" * 40, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
        more |= {"X-Error-Code": "EntryNotFound"} if status == 404 else {}
        self.send_response(status)
        for name, value in (more | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_POST = do_PUT = do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served_hub() -> Iterator[Hub]:
    """A Hub with nothing in it, which the library and the app take for the real one."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    with serving(handler) as url, pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as cache:
        hub.url = url.rstrip("/")
        patch.setattr(constants, "ENDPOINT", hub.url)
        patch.setattr(constants, "HF_HUB_CACHE", cache)
        patch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # large files go by plain HTTP
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}")
        for name, value in (APP | {"OPENID_PROVIDER_URL": hub.url, "HF_TOKEN": "hf_write"}).items():
            patch.setenv(name, value)
        yield hub
        hub.open.set()
