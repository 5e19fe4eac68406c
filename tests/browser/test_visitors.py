"""Who gets a browser that somebody else has left is a stranger to the site."""

from __future__ import annotations

FILE = "gradio_api/playground/boot"  # of the site, and opened sooner than the page
KEPT = "() => [document.cookie, localStorage.length, sessionStorage.length, innerWidth]"


def test_nothing_of_the_visitor_before_is_left(visitors, server):
    first = visitors.come(server.url, viewport={"width": 500, "height": 400})
    first.goto(FILE)
    first.evaluate("() => { document.cookie = 'a=b'; localStorage.a = 'b'; sessionStorage.a = 'b'; }")
    assert first.evaluate(KEPT) == ["a=b", 1, 1, 500]
    context = first.context
    visitors.leave(context)
    second = visitors.come(server.url)
    assert second.context is context
    third = visitors.come(server.url)
    assert third.context is not context, "it is lent to one at a time"
    for page in (second, third):
        page.goto(FILE)
        assert page.evaluate(KEPT) == ["", 0, 0, 1280]
        visitors.leave(page.context)
