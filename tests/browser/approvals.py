"""Approval requests of a model, approved and denied on the inspector's pages."""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from network import answer, serving_http
from pages import Gateway, gateway, opened
from playwright.sync_api import Browser, Locator, Page, expect

TOOL = {"type": "mcp", "server_label": "files", "server_url": "https://files.test/mcp"}
WRITES = ("--inspect-writes", "true")


class Model(ThreadingHTTPServer):
    """A model that requests approvals before it acts, and then reports the decisions."""

    daemon_threads = True

    def __init__(self, *tools: str) -> None:
        super().__init__(("127.0.0.1", 0), ModelHandler)
        self.tools = tools
        self.turns = 0

    def output(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        decisions = [it["approve"] for it in items if it.get("type") == "mcp_approval_response"]
        if not decisions:
            return [request(number, tool) for number, tool in enumerate(self.tools)]
        text = {"type": "output_text", "text": f"Decisions: {decisions}", "annotations": []}
        message = {"type": "message", "id": f"msg_{self.turns}", "role": "assistant"}
        return [{**message, "status": "completed", "content": [text]}]


class ModelHandler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.turns += 1
        response = {
            "id": f"resp_{self.server.turns}",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": body["model"],
            "output": self.server.output(body["input"]),
        }
        answer(self, json.dumps(response).encode(), "application/json")

    def log_message(self, *_: Any) -> None:
        pass


def request(number: int, tool: str) -> dict[str, Any]:
    item = {"type": "mcp_approval_request", "id": f"mcpr_{number}", "server_label": "files"}
    return {**item, "name": tool, "arguments": '{"path":"/tmp/a"}'}


@contextmanager
def waiting(
    options: argparse.Namespace, *settings: str, tools: tuple[str, ...] = ("delete",)
) -> Iterator[tuple[Gateway, str, Model]]:
    """A gateway with a conversation that waits for the approval of these tools."""
    with serving_http(Model(*tools)) as model:
        upstream = f"http://127.0.0.1:{model.server_address[1]}/v1"
        settings = (*settings, "--upstream", upstream, "--upstream-key", "sk-of-the-operator")
        with gateway(options, *settings) as world:
            conversation = world.conversation(user="Ada")
            body = {"model": "any", "tools": [TOOL], "conversation": conversation}
            world.ask("POST", "/v1/responses", {**body, "input": "Delete the file"})
            yield world, conversation, model


def request_card(page: Page, tool: str = "delete") -> Locator:
    """The card of the request in the lane of the turn's answer."""
    lane = page.locator(".turn").first.get_by_role("group", name="Returned")
    return lane.locator(".card", has_text=f"{tool}(")


def decisions(world: Gateway, conversation: str) -> dict[str, bool]:
    """The stored approval responses, by request."""
    page = world.ask("GET", f"/v1/conversations/{conversation}/items?limit=100")
    stored = [item for item in page["data"] if item["type"] == "mcp_approval_response"]
    found = {item["approval_request_id"]: item["approve"] for item in stored}
    assert len(found) == len(stored), stored
    return found


def is_decided(page: Page, word: str) -> None:
    """The turn has run, the request is marked, and nothing is left to decide."""
    expect(page.get_by_text("The model answered")).to_be_visible()
    expect(page.locator(".turn")).to_have_count(2)
    expect(request_card(page).locator(".badge", has_text=word)).to_be_visible()
    expect(page.locator(".state-healthy")).to_be_visible()
    for name in ("Approve", "Deny"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


def a_request_is_approved_by_mouse(browser: Browser, options: argparse.Namespace) -> None:
    with waiting(options, *WRITES) as (world, conversation, model):
        with opened(browser, world.page(f"#/c/{conversation}")) as page:
            expect(page.get_by_role("group", name="Approval of delete(")).to_be_visible()
            expect(request_card(page).locator(".badge", has_text="approved")).to_have_count(0)
            page.get_by_role("button", name="Approve").dblclick()
            is_decided(page, "approved")
        assert decisions(world, conversation) == {"mcpr_0": True}
        assert model.turns == 2, model.turns


def a_request_is_denied_by_keyboard(browser: Browser, options: argparse.Namespace) -> None:
    with waiting(options, *WRITES) as (world, conversation, model):
        with opened(browser, world.page(f"#/c/{conversation}")) as page:
            expect(page.get_by_role("button", name="Approve")).to_be_visible()
            for _ in range(40):
                page.keyboard.press("Tab")
                if page.locator(":focus").inner_text() == "Deny":
                    break
            expect(page.get_by_role("button", name="Deny")).to_be_focused()
            page.keyboard.press("Enter")
            page.keyboard.press("Enter")
            is_decided(page, "denied")
        assert decisions(world, conversation) == {"mcpr_0": False}
        assert model.turns == 2, model.turns


def an_older_page_changes_no_decision(browser: Browser, options: argparse.Namespace) -> None:
    """A page that missed the decision still has its buttons."""
    with waiting(options, *WRITES) as (world, conversation, model):
        with opened(browser, world.page()) as older, opened(browser, world.page()) as page:
            older.route("**/inspect/events", lambda route: route.abort())
            older.reload()
            for it in (older, page):
                it.evaluate("id => { location.hash = `#/c/${id}` }", conversation)
                expect(it.get_by_role("button", name="Deny")).to_be_visible()
            page.get_by_role("button", name="Approve").click()
            is_decided(page, "approved")
            older.get_by_role("button", name="Deny").click()
            expect(older.get_by_text("This was answered already.")).to_be_visible()
            expect(request_card(older).locator(".badge", has_text="approved")).to_be_visible()
        assert decisions(world, conversation) == {"mcpr_0": True}
        assert model.turns == 2, model.turns


def requests_of_one_turn_are_decided_together(
    browser: Browser, options: argparse.Namespace
) -> None:
    tools = ("delete", "rename")
    with waiting(options, *WRITES, tools=tools) as (world, conversation, model):
        with opened(browser, world.page(f"#/c/{conversation}")) as page:
            first = page.get_by_role("group", name="Approval of delete(")
            deny = first.get_by_role("button", name="Deny")
            deny.click()
            expect(deny).to_have_attribute("aria-pressed", "true")
            assert decisions(world, conversation) == {}
            other = page.get_by_role("group", name="Approval of rename(")
            other.get_by_role("button", name="Approve").click()
            is_decided(page, "denied")
            renamed = request_card(page, "rename")
            expect(renamed.locator(".badge", has_text="approved")).to_be_visible()
        assert decisions(world, conversation) == {"mcpr_0": False, "mcpr_1": True}
        assert model.turns == 2, model.turns


def without_writes_nothing_is_decided(browser: Browser, options: argparse.Namespace) -> None:
    with waiting(options) as (world, conversation, _):
        with opened(browser, world.page(f"#/c/{conversation}")) as page:
            expect(request_card(page)).to_be_visible()
            expect(page.locator(".state-waiting")).to_be_visible()
            for name in ("Approve", "Deny"):
                expect(page.get_by_role("button", name=name)).to_have_count(0)
        assert decisions(world, conversation) == {}


APPROVALS = (
    a_request_is_approved_by_mouse,
    a_request_is_denied_by_keyboard,
    an_older_page_changes_no_decision,
    requests_of_one_turn_are_decided_together,
    without_writes_nothing_is_decided,
)
