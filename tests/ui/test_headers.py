"""What every answer tells browsers to keep to."""

from __future__ import annotations

import pytest

from playground.ui.assets import PREFIX
from playground.ui.headers import policy


@pytest.mark.parametrize("path", ["/", f"{PREFIX}/runs", f"{PREFIX}/live/nobody", "/config", "/no/such/page"])
def test_every_answer_says_what_it_may_load_and_who_may_frame_it(site, path):
    headers = site.http.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    rules = dict(rule.strip().split(" ", 1) for rule in headers["Content-Security-Policy"].split(";"))
    assert rules["default-src"] == "'self'"
    assert rules["object-src"] == "'none'"
    assert set(rules["frame-ancestors"].split()) == {"'self'", "https://huggingface.co", "https://*.hf.space"}
    assert "http:" not in headers["Content-Security-Policy"]


def test_what_is_no_document_is_not_made_longer(site):
    headers = site.http.get("/theme.css").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Content-Security-Policy" not in headers


def test_a_picture_keeps_its_stricter_rule(site):
    assert site.get("qr", text="x").headers["Content-Security-Policy"] == "default-src 'none'"


def test_a_course_may_show_the_page_in_its_own(monkeypatch):
    monkeypatch.setenv("PLAYGROUND_FRAMES", "https://moodle.example.org https://bad.example;script-src")
    assert policy().endswith(" https://*.hf.space https://moodle.example.org")
