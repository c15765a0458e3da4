"""The pages of the inspector, as a user sees them in Chromium.

    inspector.py --antiphon BIN --browser CHROMIUM --build-dir DIR [--pictures DIR]

Runs in the environment of `requirements.txt`. With `--pictures`, only writes the pictures of the
documentation.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import json
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError

import axe_playwright_python
from playwright.sync_api import Browser, expect, sync_playwright

sys.path.append(str(Path(__file__).parent.parent / "clients"))

from approvals import APPROVALS
from pages import REQUEST_TIMEOUT, SIZES, Gateway, gateway, opened, refused

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
TOOL = {"type": "function", "name": "echo", "parameters": {"type": "object"}}
HOSTILE = "<script>window.attacked = 1</script><img src=x onerror='window.attacked = 1'>"
CONTROLS = "\x1b[31mred \u202egnp.exe"

# Follows a link as soon as the page has drawn its first view.
CHANGES_THE_ADDRESS = """
new MutationObserver((_, observer) => {
  if (!document.getElementById("main")) return;
  observer.disconnect();
  location.hash = "#/play";
}).observe(document, { childList: true, subtree: true });
"""

# In milliseconds. Other programs may share the machine.
EXPECT_TIMEOUT = 30_000


def seed(world: Gateway) -> dict[str, str]:
    """Conversations in every state. Returns their ids."""
    healthy = world.conversation(user="Ada")
    world.respond("My color is purple", conversation=healthy)
    known = [{"role": "user", "content": "My color is purple"}]
    asked = {"role": "user", "content": f"What is my color? {HOSTILE} {CONTROLS}"}
    last = world.respond([*known, asked], conversation=healthy)
    waiting = world.conversation(user="Bob")
    world.respond("Echo hello", conversation=waiting, tools=[TOOL])
    call = {"type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "{}"}
    poisoned = world.respond([call, {"role": "user", "content": "And now?"}], tools=[TOOL])
    world.respond("One way", previous_response_id=poisoned["id"])
    world.respond("Another way", previous_response_id=poisoned["id"])
    return {
        "healthy": healthy,
        "waiting": waiting,
        "poisoned": poisoned["id"],
        "turn": last["id"],
    }


def the_list_shows_states_and_searches(browser: Browser, world: Gateway, ids: dict[str, str]) -> None:
    with opened(browser, world.page()) as page:
        for state in ("healthy", "waiting", "poisoned"):
            expect(page.locator(f".state-{state}").first).to_be_visible()
        expect(page.get_by_text("No tool output found for function call call_1.")).to_be_visible()
        page.get_by_label("Search").fill("bob")
        expect(page.locator(".row")).to_have_count(1)
        expect(page.locator(".row")).to_contain_text(ids["waiting"])
        page.get_by_label("Search").fill("no such text")
        expect(page.get_by_text("No conversation was found.")).to_be_visible()
        page.get_by_label("Search").fill("")
        page.get_by_label("Show").select_option("poisoned")
        expect(page.locator(".rows .row")).to_have_count(1)
        row = page.locator(".rows .row")
        expect(row).to_contain_text(ids["poisoned"])
        expect(row).to_contain_text("Turns through this gateway still run")
        expect(row.locator(".state-repaired")).to_contain_text("repaired in 2 of 2 turns")


def a_fault_has_a_description(browser: Browser, world: Gateway, ids: dict[str, str]) -> None:
    with opened(browser, world.page()) as page:
        page.locator(".state-repaired").get_by_role("link", name="unanswered_call").first.click()
        expect(page.get_by_role("heading", name="unanswered_call")).to_be_visible()
        for part in ("Causes", "Example", "The fix", "With Antiphon"):
            expect(page.get_by_role("heading", name=part)).to_be_visible()
        page.get_by_role("link", name="Conversations").last.click()
        expect(page.get_by_role("heading", name="Conversations")).to_be_visible()


def a_conversation_has_lanes_whose_cards_are_marked(
    browser: Browser, world: Gateway, ids: dict[str, str]
) -> None:
    with opened(browser, world.page(f"#/c/{ids['healthy']}")) as page:
        turns = page.locator(".turn")
        expect(turns).to_have_count(2)
        for title in ("Received", "Stored before", "Sent to the model", "Returned"):
            expect(turns.nth(1).get_by_role("heading", name=title)).to_be_visible()
        first = turns.nth(0).locator(".lane").nth(0).locator(".card")
        key = first.get_attribute("data-key")
        first.hover()
        places = page.locator(f'.card[data-key="{key}"]')
        assert places.count() >= 4, places.count()
        expect(page.locator(".card.marked")).to_have_count(places.count())
        page.mouse.move(0, 0)
        expect(page.locator(".card.marked")).to_have_count(0)
        first.locator("button").focus()
        expect(page.locator(".card.marked")).to_have_count(places.count())


def content_is_inert(browser: Browser, world: Gateway, ids: dict[str, str]) -> None:
    with opened(browser, world.page(f"#/c/{ids['healthy']}")) as page:
        card = page.locator(".card", has_text="What is my color?").first
        expect(card).to_contain_text("<script>window.attacked = 1</script>")
        expect(card).to_contain_text("\u241b[31mred \\u202egnp.exe")
        assert page.evaluate("window.attacked") is None
        assert page.locator("main img, main script").count() == 0


def a_broken_chain_shows_its_fault_and_its_forks(
    browser: Browser, world: Gateway, ids: dict[str, str]
) -> None:
    with opened(browser, world.page(f"#/c/{ids['poisoned']}")) as page:
        expect(page.locator(".fate-repaired").first).to_contain_text("unanswered_call")
        expect(page.locator(".fate-placeholder").first).to_contain_text("No tool output found")
        expect(page.locator(".tree li")).to_have_count(3)


def the_context_is_what_the_model_was_given(
    browser: Browser, world: Gateway, ids: dict[str, str]
) -> None:
    with opened(browser, world.page(f"#/t/{ids['turn']}/context")) as page:
        expect(page.locator("ol.cards .card")).to_have_count(4)
        expect(page.get_by_text("The cache breaks at byte")).to_be_visible()
        expect(page.locator(".difference .added")).to_have_count(3)


def turns_appear_while_the_page_is_open(
    browser: Browser, world: Gateway, ids: dict[str, str]
) -> None:
    with opened(browser, world.page(f"#/c/{ids['healthy']}")) as page:
        expect(page.locator(".turn")).to_have_count(2)
        world.respond("And my dog is Biscuit", conversation=ids["healthy"])
        expect(page.locator(".turn")).to_have_count(3)


def an_address_that_changes_before_the_first_paint_is_shown(
    browser: Browser, world: Gateway, ids: dict[str, str]
) -> None:
    with opened(browser, world.page()) as page:
        page.add_init_script(CHANGES_THE_ADDRESS)
        page.reload()
        expect(page.get_by_role("heading", name="Playground")).to_be_visible()


def the_keyboard_is_enough(browser: Browser, world: Gateway, ids: dict[str, str]) -> None:
    with opened(browser, world.page()) as page:
        expect(page.locator(".row").first).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_label("Search")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_label("Show")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator(".turn").first).to_be_visible()
        page.locator(".card button").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".card pre").first).to_be_visible()


def every_view_is_accessible(browser: Browser, world: Gateway, ids: dict[str, str]) -> None:
    """By axe, in both sizes and both colour schemes; and nothing is wider than the screen."""
    views = ["", f"#/c/{ids['healthy']}", f"#/c/{ids['poisoned']}", f"#/t/{ids['turn']}"]
    views += [f"#/t/{ids['turn']}/context", "#/f/unanswered_call", "#/play"]
    for size, viewport in SIZES.items():
        for scheme in ("light", "dark"):
            with opened(browser, world.page(), viewport=viewport, color_scheme=scheme) as page:
                page.evaluate(AXE)
                for view in views:
                    page.evaluate("hash => { location.hash = hash }", view or "#/")
                    expect(page.locator("h1").first).to_be_visible()
                    expect(page.get_by_text("Loading…")).to_have_count(0)
                    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
                    faults = [(it["id"], it["nodes"][0]["html"]) for it in found["violations"]]
                    assert faults == [], (size, scheme, view, faults)
                    width = page.evaluate("document.documentElement.scrollWidth")
                    assert width <= viewport["width"], (size, view, width)


def acts_change_the_conversation(browser: Browser, world: Gateway, ids: dict[str, str]) -> None:
    with opened(browser, world.page(f"#/c/{ids['waiting']}")) as page:
        page.get_by_label("Output of").fill("hello")
        page.get_by_role("button", name="Answer the call").click()
        expect(page.get_by_text("The model answered")).to_be_visible()
        expect(page.locator(".turn")).to_have_count(2)
        expect(page.locator(".state-healthy")).to_be_visible()
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        exported = json.loads(Path(download.value.path()).read_text())
        kinds = [item["type"] for item in exported["items"]]
        assert "function_call_output" in kinds, kinds
        form = page.locator(".acts form", has_text="Delete the item").last
        form.locator("select").select_option(index=1)
        form.locator("button").click()
        expect(page.get_by_text("The item is deleted.")).to_be_visible()
        items = world.ask("GET", f"/v1/conversations/{ids['waiting']}/items?limit=100")["data"]
        assert len(items) == len(kinds) - 1
        page.get_by_role("button", name="Run again as a fork").first.click()
        expect(page.get_by_role("heading", name="Report")).to_be_visible()
        assert re.search(r"#/t/resp_\w+$", page.url), page.url


def refused_turns_are_listed(browser: Browser, world: Gateway, ids: dict[str, str]) -> None:
    output = {"type": "function_call_output", "call_id": "call_lost", "output": "hello"}
    body = {"model": "sim", "input": [output], "conversation": ids["healthy"], "user": "user-7"}
    refusal = refused(world, body)
    with opened(browser, world.page()) as page:
        for part in ("open", "refused"):
            page.get_by_label("Show").select_option(part)
            row = page.locator(".rows > .row", has_text=ids["healthy"]).last
            expect(row.locator(".state-refused .user")).to_have_text("User user-7")
        page.get_by_label("Show").select_option("waiting")
        expect(page.locator(".rows > .row", has_text=ids["healthy"])).to_have_count(0)
        page.get_by_label("Show").select_option("")
        expect(page.get_by_text("refused or failed in the last 24 hours")).to_be_visible()
        row = page.locator(".refused .row").first
        expect(row).to_contain_text(refusal["message"])
        expect(row.locator(".user")).to_have_text("User user-7")
        marked = page.locator(".row", has_text="My color is purple").locator(".state-refused")
        expect(marked).to_contain_text(refusal["message"])
        row.get_by_role("link", name="req_").click()
        expect(page.get_by_role("heading", name="A refused turn")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text(refusal["message"])
        expect(page.locator(".card")).to_contain_text("call_lost")
        expect(page.get_by_role("link", name="output_without_call")).to_be_visible()
        expect(page.locator(".user")).to_have_text("User user-7")
        page.get_by_role("link", name=ids["healthy"]).click()
        expect(page.locator(".state-refused")).to_contain_text(refusal["message"])


def the_input_of_check_is_copied(browser: Browser, world: Gateway, ids: dict[str, str]) -> None:
    granted = {"permissions": ["clipboard-read", "clipboard-write"]}
    with opened(browser, world.page(f"#/t/{ids['turn']}"), **granted) as page:
        page.get_by_role("button", name="Copy as input").click()
        expect(page.get_by_text("Copied.")).to_be_visible()
        items = json.loads(page.evaluate("navigator.clipboard.readText()"))
        assert len(items) == 4, items


def the_playground_asks_a_model(browser: Browser, world: Gateway, ids: dict[str, str]) -> None:
    with opened(browser, world.page("#/play")) as page:
        page.get_by_label("Input").fill("My color is green")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".answer")).to_contain_text("green")
        page.get_by_role("link", name="Show the conversation").click()
        expect(page.locator(".turn")).to_have_count(1)


def ten_thousand_items_are_shown_at_once(
    browser: Browser, world: Gateway, ids: dict[str, str]
) -> None:
    """Prints the time of the first paint: machines differ, so it is no condition."""
    long = world.conversation(user="long")
    for start in range(0, 10_000, 2_500):
        text = [{"role": "user", "content": f"Fact {at}"} for at in range(start, start + 2_500)]
        world.respond(text, conversation=long)
    with opened(browser, world.page(f"#/c/{long}")) as page:
        expect(page.locator(".turn")).to_have_count(4)
        shown = page.evaluate("performance.now()")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        assert page.locator(".card").count() < 2_000
        print(f"10,000 items: first paint {paint:.0f} ms, all turns {shown:.0f} ms", flush=True)
        # Cards above get their true height when they come into view, which can move the button away
        # from the pointer.
        page.get_by_role("button", name="Show all 7,502 items").press("Enter")
        expect(page.get_by_role("button", name="Show more items").first).to_be_visible()


def a_page_without_writes_reaches_no_other_route(
    browser: Browser, options: argparse.Namespace
) -> None:
    with gateway(options) as world:
        turn = world.respond("Hello")["id"]
        with opened(browser, world.page(f"#/c/{turn}")) as page:
            expect(page.locator(".turn")).to_have_count(1)
            assert page.locator(".acts").count() == 0
            expect(page.get_by_text("read-only")).to_be_visible()
            fetched = page.evaluate("fetch('/v1/models').then(() => 'reached', () => 'blocked')")
            assert fetched == "blocked", fetched


def tenants_see_their_own_conversations(browser: Browser, options: argparse.Namespace) -> None:
    keys = ["--api-key", "sk-ada-1234567890=ada", "--api-key", "sk-bob-1234567890=bob"]
    with gateway(options, "--inspect", "keys", *keys, key="sk-ada-1234567890") as world:
        turn = world.respond("The secret of Ada")["id"]
        with opened(browser, world.page()) as page:
            page.get_by_label("The key of your tenant").fill("sk-wrong-1234567890")
            page.get_by_role("button", name="Show conversations").click()
            expect(page.get_by_role("alert")).to_be_visible()
            page.get_by_label("The key of your tenant").fill("sk-bob-1234567890")
            page.get_by_role("button", name="Show conversations").click()
            expect(page.get_by_text("No conversation was found.")).to_be_visible()
            page.evaluate("id => { location.hash = `#/c/${id}` }", turn)
            expect(page.get_by_role("heading", name="The view cannot be shown")).to_be_visible()
            assert "Ada" not in page.content()
            page.get_by_role("button", name="Forget the key").click()
            page.get_by_label("The key of your tenant").fill("sk-ada-1234567890")
            page.get_by_role("button", name="Show conversations").click()
            expect(page.locator(".turn")).to_have_count(1)


@contextmanager
def silent_upstream() -> Iterator[str]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def an_open_turn_is_ended(browser: Browser, options: argparse.Namespace) -> None:
    settings = ["--inspect-writes", "true", "--upstream-key", "sk-of-the-operator"]
    with (
        silent_upstream() as upstream,
        gateway(options, *settings, "--upstream", upstream) as world,
        ThreadPoolExecutor(1) as pool,
    ):
        conversation = world.conversation(user="Ada")
        body = {"model": "silent", "input": "Hello", "conversation": conversation}
        asking = pool.submit(refused, world, body)
        with opened(browser, world.page(f"#/c/{conversation}")) as page:
            page.get_by_role("button", name="End the open turn").click()
            error = asking.result(timeout=REQUEST_TIMEOUT)
            assert error["code"] == "turn_ended", error
            expect(page.get_by_role("button", name="End the open turn")).to_have_count(0)


WITH_WRITES = (
    the_list_shows_states_and_searches,
    a_fault_has_a_description,
    a_conversation_has_lanes_whose_cards_are_marked,
    content_is_inert,
    a_broken_chain_shows_its_fault_and_its_forks,
    the_context_is_what_the_model_was_given,
    turns_appear_while_the_page_is_open,
    an_address_that_changes_before_the_first_paint_is_shown,
    the_keyboard_is_enough,
    every_view_is_accessible,
    acts_change_the_conversation,
    the_input_of_check_is_copied,
    the_playground_asks_a_model,
    ten_thousand_items_are_shown_at_once,
    refused_turns_are_listed,
)
OF_OTHER_GATEWAYS = (
    a_page_without_writes_reaches_no_other_route,
    tenants_see_their_own_conversations,
    an_open_turn_is_ended,
    *APPROVALS,
)


def test(browser: Browser, options: argparse.Namespace) -> None:
    with gateway(options, "--inspect-writes", "true") as world:
        ids = seed(world)
        for run in WITH_WRITES:
            run(browser, world, ids)
            print(f"{run.__name__}: ok", flush=True)
    for run in OF_OTHER_GATEWAYS:
        run(browser, options)
        print(f"{run.__name__}: ok", flush=True)


def take_pictures(browser: Browser, options: argparse.Namespace) -> None:
    """The pictures of the documentation."""
    with gateway(options) as world:
        ids = seed(world)
        views = {
            "conversations": ("", {}),
            "conversation": (f"#/c/{ids['poisoned']}", {}),
            "context": (f"#/t/{ids['turn']}/context", {}),
            "narrow-dark": (
                f"#/c/{ids['healthy']}",
                {"viewport": SIZES["narrow"], "color_scheme": "dark"},
            ),
        }
        for name, (view, look) in views.items():
            with opened(browser, world.page(view), **look) as page:
                expect(page.locator("h1").first).to_be_visible()
                expect(page.get_by_text("Loading…")).to_have_count(0)
                page.screenshot(path=options.pictures / f"{name}.png")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--antiphon", type=Path, required=True)
    parser.add_argument("--browser", type=Path, required=True)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    expect.set_options(timeout=EXPECT_TIMEOUT)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=str(options.browser), args=["--no-sandbox"]
            )
            (take_pictures if options.pictures else test)(browser, options)
            browser.close()
    except (AssertionError, HTTPError, OSError, RuntimeError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
