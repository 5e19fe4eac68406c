"""Visitors' sign-ins with Hugging Face, by its OAuth with PKCE, and pushes of their runs. Tokens stay in this process's memory, each beside
the visitor that signed in, and are in no cookie (as those of Gradio's LoginButton are), address, log or file."""

import base64
import hashlib
import io
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from huggingface_hub import CommitOperationAdd, HfApi, get_session, hf_raise_for_status

from playground import logs
from playground.config import Refusal
from playground.export import GetScores, files
from playground.export.exported_run import ExportedRun
from playground.hub.model import WEIGHTS, check_name, translate_errors
from playground.runs.runtime import REAL, Runtime

log = logs.logging.getLogger(__name__)
BEGUN_SECONDS = 600.0  # to sign in
MAX_VISITORS = 1_000  # that have begun or are signed in: the oldest make room
TIMEOUT_S = 20.0


@dataclass
class Push:
    """A run on its way to a repository, or there."""

    message: Refusal = field(default_factory=lambda: Refusal("hub.push_preparing"))  # its state, or what ended it
    address: str = ""  # once it has arrived
    is_busy: bool = True
    is_stopped: bool = False

    def require_wanted(self) -> None:
        """Raises Refusal once the visitor has stopped it."""
        if self.is_stopped:
            raise Refusal("hub.push_stopped")


class _Weights(io.BufferedReader):
    """A file that says how far its upload is, and ends it when the push is stopped. The library uploads an open file by plain HTTP."""

    def __init__(self, path: Path, push: Push) -> None:
        super().__init__(io.FileIO(path))
        self._push, self._total = push, f"{path.stat().st_size / 1e6:.1f}"

    def read(self, size: int | None = -1, /) -> bytes:
        self._push.require_wanted()
        data = super().read(size)
        self._push.message = Refusal("hub.push_uploading", sent=f"{self.tell() / 1e6:.1f}", total=self._total)
        return data


@dataclass(frozen=True)
class _Begun:
    """A sign-in that has begun: what its end must prove, and the query of the page to come back to."""

    state: str
    verifier: str
    redirect: str
    back: str
    until: float


@dataclass
class _Visitor:
    """A visitor's sign-in that has begun, their name at the Hub as long as the token holds, and their last push."""

    begun: _Begun | None = None
    user: str = ""
    token: str = field(default="", repr=False)
    until: float = 0.0
    repos: set[str] = field(default_factory=set)  # made since the sign-in: a further push may change them
    push: Push | None = None


class Accounts:
    """The sign-ins of a server's visitors, by owner (see `owner_of`). Thread-safe."""

    def __init__(self, runtime: Runtime = REAL) -> None:
        self._runtime, self._lock, self._packing = runtime, Lock(), Lock()
        self._visitors: dict[str, _Visitor] = {}
        self._hub = os.environ.get("OPENID_PROVIDER_URL", "https://huggingface.co").rstrip("/")

    def begin(self, owner: str, redirect: str, back: str) -> str:
        """Returns the address where the visitor signs in, from which the Hub leads to `redirect`."""
        verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
        with self._lock:
            visitor = self._visitors[owner] = self._visitors.pop(owner, _Visitor())  # the newest is the last
            visitor.begun = _Begun(state, verifier, redirect, back, self._runtime.monotonic() + BEGUN_SECONDS)
            for oldest in list(self._visitors)[:-MAX_VISITORS]:
                del self._visitors[oldest]
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code", "client_id": os.environ["OAUTH_CLIENT_ID"], "redirect_uri": redirect, "state": state,
            "scope": os.environ.get("OAUTH_SCOPES", "openid profile contribute-repos"),
            "code_challenge": challenge, "code_challenge_method": "S256",
        }  # fmt: skip
        return f"{self._hub}/oauth/authorize?{urlencode(query)}"

    def back_of(self, state: str) -> str:
        """Returns the query of the page at which the sign-in of this state began; "" for an unknown one."""
        with self._lock:
            sign_ins = [visitor.begun for visitor in self._visitors.values() if visitor.begun]
        return next((begun.back for begun in sign_ins if begun.state == state), "")

    def finish(self, owner: str, code: str, state: str) -> None:
        """Signs the visitor in that has begun with this `state`: another one, led to its address by them, would lend them an account.
        Raises Refusal."""
        with self._lock:
            visitor = self._visitors.get(owner, _Visitor())
            begun, visitor.begun = visitor.begun, None
        if begun is None or begun.until < self._runtime.monotonic() or begun.state != state:
            raise Refusal("hub.not_signed_in")
        client = os.environ["OAUTH_CLIENT_ID"], os.environ["OAUTH_CLIENT_SECRET"]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": begun.redirect, "code_verifier": begun.verifier}
        try:
            with translate_errors(self._hub):
                grant = self._ask("POST", "token", data=form | {"client_id": client[0]}, auth=client)
                user = self._ask("GET", "userinfo", headers={"Authorization": f"Bearer {grant['access_token']}"})
        except Refusal as refusal:
            raise refusal if refusal.key == "hub.unreachable" else Refusal("hub.not_signed_in") from None
        visitor.user, visitor.token, visitor.repos = user["preferred_username"], grant["access_token"], set()
        visitor.until = self._runtime.monotonic() + grant.get("expires_in", BEGUN_SECONDS)

    def _ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        answer = get_session().request(method, f"{self._hub}/oauth/{path}", timeout=TIMEOUT_S, **options)
        hf_raise_for_status(answer)
        return answer.json()

    def leave(self, owner: str) -> None:
        """Signs the visitor out, and stops their push."""
        self.stop(owner)
        with self._lock:
            self._visitors.pop(owner, None)

    def describe(self, owner: str, language: str) -> dict[str, Any]:
        """Returns the visitor's name at the Hub, "" without one, and what is to be said of their last push."""
        visitor = self._find(owner)
        push = visitor.push
        about = push and {"text": push.message.say(language), "address": push.address, "busy": push.is_busy}
        return {"user": visitor.user, "push": about}

    def push(self, owner: str, exported: ExportedRun, name: str, private: bool, scores: GetScores) -> None:
        """Begins to push a run to the visitor's own model repository `name`, with the files of its export. Raises Refusal."""
        visitor, push = self._find(owner), Push()
        if not visitor.user:
            raise Refusal("hub.not_signed_in")
        repo = check_name(f"{visitor.user}/{name}")
        with self._lock:
            if visitor.push and visitor.push.is_busy:
                raise Refusal("hub.push_busy")
            visitor.push = push

        def carry_out() -> None:
            try:
                with TemporaryDirectory() as folder:
                    with self._packing:  # scores take a whole core
                        for file, make in files(exported, scores).items():
                            push.require_wanted()
                            Path(folder, file).write_bytes(make())
                    push.address = self._upload(Path(folder), visitor, push, repo, private, f"{exported.name} at step {exported.step}")
                push.message = Refusal("hub.push_done")
            except Exception as error:
                push.message = self._explain(error, push, visitor)
            finally:
                push.is_busy = False

        self._runtime.spawn(carry_out, "push")

    def stop(self, owner: str) -> None:
        """Stops the visitor's push, unless its files are about to be visible."""
        if push := self._find(owner).push:
            push.is_stopped = True

    def _upload(self, folder: Path, visitor: _Visitor, push: Push, repo: str, private: bool, message: str) -> str:
        """Creates the repository, uploads the weights, and commits them with all other files at once. Returns its address."""
        api = HfApi(self._hub, token=visitor.token)
        with translate_errors(repo), _Weights(folder / WEIGHTS, push) as weights:
            push.require_wanted()
            url = api.create_repo(repo, private=private, exist_ok=repo in visitor.repos)
            visitor.repos.add(repo)
            rest = [CommitOperationAdd(path.name, path) for path in sorted(folder.iterdir()) if path.name != WEIGHTS]
            additions = [CommitOperationAdd(WEIGHTS, weights), *rest]
            api.preupload_lfs_files(repo, additions, free_memory=False)
            push.require_wanted()
            api.create_commit(repo, additions, commit_message=message)
        return str(url)

    def _explain(self, error: Exception, push: Push, visitor: _Visitor) -> Refusal:
        """Returns why a push failed; the Hub may have refused the sign-in, which ends."""
        if push.is_stopped:
            return Refusal("hub.push_stopped")
        if not isinstance(error, Refusal):
            logs.event(log, "push_failed", logs.logging.ERROR, error)
            return Refusal("page.went_wrong")
        if error.key != "hub.bad_token":
            return error
        visitor.user = ""
        return Refusal("hub.not_signed_in")

    def _find(self, owner: str) -> _Visitor:
        """Returns the visitor; one that is signed in no more has no name."""
        visitor = self._visitors.get(owner, _Visitor())
        if visitor.until < self._runtime.monotonic():
            visitor.user = visitor.token = ""
        return visitor
