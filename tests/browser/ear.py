"""Every byte that a page receives: what it asked for, and what streams tell it."""

from __future__ import annotations

from playwright.sync_api import Error, Page, Request


class Ear:
    """Listens to a page from before its first request. `unread` are addresses whose answer the browser no longer has."""

    def __init__(self, page: Page) -> None:
        self._finished: list[Request] = []
        self._heard: list[bytes] = []
        self.unread: list[str] = []
        page.on("requestfinished", lambda request: self._finished.append(request))
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.on("Network.eventSourceMessageReceived", lambda event: self._heard.append(event["data"].encode()))

    def listen(self) -> None:
        """Takes in what has come meanwhile, before the browser forgets it."""
        while self._finished:
            request = self._finished.pop()
            if request.url.startswith("http"):
                try:
                    answer = request.response()
                    self._heard.append(f"{answer.url}\n{answer.all_headers()}\n".encode() + answer.body())
                except Error:
                    self.unread.append(request.url)

    @property
    def bytes(self) -> int:
        return sum(map(len, self._heard))

    def knows(self, text: str) -> bool:
        """Whether it has heard this, in any of the ways in which JSON and addresses write letters."""
        return any(text.encode() in one for one in self._heard)
