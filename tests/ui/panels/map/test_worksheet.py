"""The printable sheet, through its own route: the student's numbers, no answers before they are asked for, and nothing foreign."""

import re

from playground.inspection.worksheet import KINDS, worksheet
from playground.words import LANGUAGES


def boxes(text: str) -> list[str]:
    return re.findall(r"<output>(.*?)</output>", text)


def test_it_shows_what_is_given_and_keeps_the_answers_until_the_key_fills_every_box(site):
    sheet, plain = worksheet(7, "decoder"), site.get("worksheet", seed=7, kind="decoder").text
    given = [number.replace("-", "−") for table in sheet.given for row in table.rows for number in row]
    assert re.findall(r"<td>(.*?)</td>", plain) == given
    answers = [box.answer.replace("-1e30", "−10³⁰").replace("-", "−") for task in sheet.tasks for box in (*task.way, *task.boxes)]
    assert boxes(plain) == [""] * len(answers)
    assert 'class="key"' not in plain
    assert boxes(site.get("worksheet", seed=7, kind="decoder", key=1).text) == answers
    texts = [site.get("worksheet", seed=seed, kind=kind).text for seed in (1, 2, 1) for kind in KINDS]
    assert (texts[:3], len(set(texts))) == (texts[6:], 6), "each seed is another sheet, the same seed the same"


def test_every_kind_is_in_both_languages_with_nothing_foreign_and_no_script(site):
    for language in LANGUAGES:
        for kind in KINDS:
            answer = site.get("worksheet", seed=3, kind=kind, lang=language, key=1)
            assert f'<html lang="{language}">' in answer.text
            assert bool(re.search(r"[\u4e00-\u9fff]", answer.text)) == (language == "zh")
            assert f'value="{kind}" selected' in answer.text
            assert not re.search(r"\{|https?://|<script|\son\w+=", answer.text)
            assert "default-src 'none'" in answer.headers["content-security-policy"]
    cross = site.get("worksheet", kind="cross").text
    assert ("&lt;bos&gt;" in cross, "<bos>" in cross) == (True, False)
    usual, markup = site.get("worksheet", seed=1).text, {"kind": '"><img src=x>', "lang": "<b>", "key": "<i>"}
    for parameters in ({"seed": "<script>alert(1)</script>", **markup}, {}, {"seed": "-1"}, {"seed": "9" * 20}, {"seed": "１２"}):
        assert site.get("worksheet", **parameters).text == usual, "no parameter breaks it or is repeated"
