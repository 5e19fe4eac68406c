"""A visitor signs in with Hugging Face from the menu of a run, and pushes it."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import pages
from tests.browser.server import Server
from tests.browser.steps import about_the_run, address, ready, words
from tests.hub.stand_in import served_hub


@pytest.mark.night
def test_a_run_goes_from_the_page_to_the_hub(visitors, request, tmp_path):
    with served_hub() as hub:
        server = Server(tmp_path)
        server.start()
        with pages(visitors, server.url, request) as visit:
            page = visit("?run=reverse&tab=map")
            before = address(page)
            about_the_run(page)
            page.get_by_role("button", name=words("page.sign_in")).click()
            expect(page.locator("#pg-push-name")).to_have_value("reverse")
            ready(page)
            assert (address(page), "#" in page.url) == (before, False)
            hub.open.clear()  # until the page has said that it prepares
            page.locator("#pg-push").click()
            expect(page.locator("#pg-push-state")).to_contain_text(words("hub.push_preparing"))
            hub.open.set()
            expect(page.locator("#pg-pushed")).to_have_attribute("href", f"{hub.url}/ada/reverse")
            assert "model.safetensors" in hub.repos["ada/reverse"]
            stored = page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
            assert "hf_oauth" not in page.content() + stored + server.logged()
            page.locator("#pg-sign-out").click()
            expect(page.locator("#pg-sign-in")).to_be_visible()
            troubles = visitors.troubles[page]  # without those of the one other host that it went to
            troubles.faults[:] = [fault for fault in troubles.faults if hub.url not in fault]
        server.stop()
