"""Somebody winds back to see how the model learnt, and starts anew from there."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.steps import ONE_SENTENCE, address, has_address, has_status, link, new_run, tab, train

RIGHT = "iwantabeer"


def output(page: Page) -> str:
    return "".join(page.locator("#pg-result .pg-tokens.out .pg-chip").all_inner_texts())


def frames(page: Page) -> int:
    return int(page.locator("#pg-film").get_attribute("data-frames"))


def test_scrub_the_film(visit):
    """The slider goes back to the first step, every panel follows, the film plays to its end, and a fork starts in the middle."""
    page = visit(link(ONE_SENTENCE))
    run = train(page)
    has_status(page, "done")
    expect(page.locator("#pg-result .pg-verdict.right")).to_be_visible()
    count, film = frames(page), page.locator("#pg-film")
    assert count >= 10
    has_address(page, step=None)
    assert film.input_value() == str(count)
    assert output(page) == RIGHT

    film.fill("0")
    has_address(page, step="0")
    learn = page.locator("#pg-panel-learn")
    expect(learn).to_have_attribute("data-step", "0")
    expect(page.locator("#pg-result .pg-verdict.wrong")).to_be_visible()
    assert output(page) != RIGHT
    expect(learn.locator(".pg-probes .pg-wrong")).to_have_count(1)
    expect(page.locator("#pg-film-step")).to_have_text("step 0 of 60")
    early = page.locator("#pg-figure-learn-cross").evaluate("plot => plot.data[0].z")
    line = page.locator("#pg-figure-loss").evaluate("plot => plot.layout.shapes[0]")
    assert line["visible"] is True
    assert line["x0"] == 0

    for name in ("Translate", "Attention"):
        expect(tab(page, name)).to_have_attribute("data-step", "0")
    expect(page.locator("#pg-panel-translate [data-block='text verdict']")).to_contain_text("differ from the right answer")

    tab(page, "Learn")
    page.locator("#pg-film-play").click()
    expect(page.locator("#pg-film-play")).to_have_attribute("aria-label", "Pause the film")
    page.wait_for_function("Number(new URLSearchParams(location.search).get('step')) >= 2")
    page.locator("#pg-film-play").click()
    expect(page.locator("#pg-film-play")).to_have_attribute("aria-label", "Play the film")
    stopped = address(page)["step"]
    expect(learn).to_have_attribute("data-step", stopped)

    page.locator("#pg-film-forward").click()
    page.wait_for_function("step => Number(new URLSearchParams(location.search).get('step')) > step", arg=int(stopped))
    page.locator("#pg-film-back").click()
    has_address(page, step=stopped)
    page.locator("#pg-film-now").click()
    has_address(page, step=None)
    expect(learn).to_have_attribute("data-step", "60")
    assert page.locator("#pg-figure-learn-cross").evaluate("plot => plot.data[0].z") != early

    film.fill(str(count // 2))
    page.wait_for_function("new URLSearchParams(location.search).has('step')")
    step = int(address(page)["step"])
    assert 0 < step < 60
    page.locator("#pg-fork").click()
    new_run(page, run)
    has_address(page, step=None)
    expect(page.locator(".pg-notice", has_text=f"starts from step {step}.")).to_have_count(1)
    has_status(page, "done")
    assert page.locator("#pg-run option").evaluate_all("options => options.map((option) => option.value)").index(run) == 1
