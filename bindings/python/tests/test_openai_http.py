"""`antiphon.openai.stateful` and the http client of the given client."""

import asyncio
import gc
import gzip
import json
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import httpx2
import openai
import pytest
from antiphon.openai import stateful
from openai import APIConnectionError, AsyncOpenAI, OpenAI, RateLimitError
from speaking import SPEAKERS, Speaker

COMPLETED = {"id": "resp_1", "object": "response", "status": "completed", "output": []}


@dataclass
class Echoing:
    """A server with the same answer for every request, and the requests that it received."""

    body: bytes = json.dumps(COMPLETED).encode()
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    status: int = 200
    cut_short: bool = False
    asked: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def server() -> Iterator[Echoing]:
    """A server for answers that the test provider never sends."""
    with echoing() as server:
        yield server


@contextmanager
def echoing() -> Iterator[Echoing]:
    server = Echoing()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.asked.append((self.path, headers, body))
            self.send_response(server.status)
            for name, value in server.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(server.body) + server.cut_short))
            self.end_headers()
            self.wfile.write(server.body)
            self.close_connection = server.cut_short

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    server.url = f"http://127.0.0.1:{listening.server_port}/v1"
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


@pytest.fixture(params=SPEAKERS)
def speaker(request: pytest.FixtureRequest, server: Echoing) -> Iterator[Speaker]:
    """A stateful client of each kind at the echoing server."""
    kind = SPEAKERS[request.param]
    speaker = Speaker(kind(base_url=server.url, api_key="sk-tests", max_retries=0))
    yield speaker
    speaker.close()


def test_a_body_that_is_odd_passes_untouched(server: Echoing, speaker: Speaker) -> None:
    odd = b'{"input": [1, 2],  "model":"x"}'
    post: Any = speaker.client.post
    speaker.awaited(post("/responses", content=odd, cast_to=object))
    assert server.asked[0][2] == odd


def test_turn_keeps_headers_and_disables_compression(
    server: Echoing, speaker: Speaker
) -> None:
    speaker.create(
        input="Hello", extra_headers={"x-tenant": "acme"}, extra_query={"api-version": "1"}
    )
    path, headers, _ = server.asked[-1]
    assert path == "/v1/responses?api-version=1"
    assert headers["x-tenant"] == "acme"
    assert headers["authorization"] == "Bearer sk-tests"
    assert headers["accept-encoding"] == "identity"


def test_temporary_list_error_reaches_the_caller(
    server: Echoing, speaker: Speaker
) -> None:
    server.status, server.body = 429, b'{"error": {"message": "Slow down."}}'
    with pytest.raises(RateLimitError, match="Slow down"):
        speaker.create(conversation="conv_1", input="Hello")
    assert [path.partition("?")[0] for path, *_ in server.asked] == [
        "/v1/conversations/conv_1/items"
    ]


def test_list_request_uses_the_turns_credentials(
    server: Echoing, speaker: Speaker
) -> None:
    server.body = b'{"object": "list", "data": [], "has_more": false}'
    speaker.raw(
        conversation="conv_1",
        input=[{"role": "user", "content": "Hello"}],
        extra_headers={"x-tenant": "acme", "idempotency-key": "one"},
        extra_query={"api-version": "1"},
    )
    (asked, headers, body), (sent, turn_headers, _) = server.asked
    assert asked.startswith("/v1/conversations/conv_1/items?") and "api-version=1" in asked
    assert sent == "/v1/responses?api-version=1"
    assert headers["authorization"] == turn_headers["authorization"]
    assert headers["x-tenant"] == "acme"
    assert turn_headers["idempotency-key"] == "one"
    assert body == b"" and "idempotency-key" not in headers and "content-type" not in headers


@pytest.mark.parametrize("name", ["X-Api-Key", "cf-aig-authorization", "x-tenant"])
def test_conversation_state_is_separate_per_account(
    server: Echoing, speaker: Speaker, name: str
) -> None:
    server.body = json.dumps({**COMPLETED, "data": [], "has_more": False}).encode()

    def asked_by(value: str) -> int:
        before = len(server.asked)
        speaker.create(conversation="conv_1", input="Hello", extra_headers={name: value})
        return len(server.asked) - before

    assert [asked_by("one"), asked_by("one"), asked_by("other"), asked_by("one")] == [2, 1, 2, 1]


def test_invalid_body_content_is_not_logged(
    server: Echoing, speaker: Speaker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", logger="antiphon")
    post: Any = speaker.client.post
    speaker.awaited(post("/responses", content=b'"secret"', cast_to=object))
    assert "passes unchanged" in caplog.text and "secret" not in caplog.text


def test_unanswered_list_request_is_a_connection_error(
    server: Echoing, speaker: Speaker
) -> None:
    server.cut_short = True
    for _ in range(2):
        with pytest.raises(APIConnectionError):
            speaker.create(conversation="conv_1", input="Hello")
    assert [path.partition("?")[0] for path, _, _ in server.asked] == [
        "/v1/conversations/conv_1/items"
    ] * 2


def test_compressed_answer_passes_unchanged(
    server: Echoing, speaker: Speaker
) -> None:
    server.body = gzip.compress(server.body)
    server.headers["content-encoding"] = "gzip"
    assert speaker.create(input="Hello").id == "resp_1"


def event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def call(id: str) -> dict[str, str]:
    fields = {"call_id": "call_1", "name": "echo", "arguments": "{}", "status": "completed"}
    return {"type": "function_call", "id": id, **fields}


DOUBLED = {**COMPLETED, "output": [call("fc_1"), call("fc_2")]}


def test_doubled_call_of_a_stream_is_one_item(server: Echoing, speaker: Speaker) -> None:
    items = [
        event(f"response.output_item.{kind}", output_index=place, item=call(id))
        for place, id in enumerate(["fc_1", "fc_2"])
        for kind in ("added", "done")
    ]
    created = event("response.created", response={**COMPLETED, "status": "in_progress"})
    stream = [created, *items, event("response.completed", response=DOUBLED)]
    server.body = "".join(stream).encode()
    server.headers["content-type"] = "text/event-stream"

    events = speaker.events(input="Hello")

    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.id for item in done] == ["fc_1"]
    assert [item.id for item in events[-1].response.output] == ["fc_1"]
    assert [event.sequence_number for event in events] == [*range(len(events))]


def test_doubled_call_of_a_whole_answer_is_one_item(server: Echoing, speaker: Speaker) -> None:
    server.body = json.dumps(DOUBLED).encode()
    assert [item.id for item in speaker.create(input="Hello").output] == ["fc_1"]


def test_answer_without_doubled_items_keeps_its_bytes(server: Echoing, speaker: Speaker) -> None:
    server.body = json.dumps({**COMPLETED, "output": [call("fc_1")]}, indent=3).encode()
    assert speaker.raw(input="Hello").http_response.content == server.body


def test_truncated_answer_is_a_connection_error(
    server: Echoing, speaker: Speaker
) -> None:
    server.cut_short = True
    with pytest.raises(APIConnectionError):
        speaker.create(input="Hello")


def test_overlarge_rejection_passes_unchanged(server: Echoing, speaker: Speaker) -> None:
    server.status = 400
    server.body = json.dumps({"error": {"message": "x" * (2 << 20)}}).encode()
    with pytest.raises(openai.BadRequestError) as refused:
        speaker.create(input="Hello")
    assert len(refused.value.response.content) == len(server.body)


def test_unreachable_server_is_a_connection_error(speaker: Speaker) -> None:
    nowhere = speaker.client.with_options(base_url="http://127.0.0.1:1/v1")
    with pytest.raises(APIConnectionError):
        speaker.awaited(nowhere.responses.create(model="sim", input="Hello"))


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_clients_of_both_libraries_are_wrapped(
    library: Any, server: Echoing
) -> None:
    seen: list[str] = []
    hooks: Any = {"request": [lambda request: seen.append(request.method)]}
    inner = library.Client(event_hooks=hooks, timeout=7, headers={"x-of": "the client"})
    given = OpenAI(base_url=server.url, api_key="any", http_client=inner)

    client = stateful(given)
    client.responses.create(model="sim", input="Hello")

    assert type(client) is OpenAI and isinstance(client._client, library.Client)
    assert client._client.timeout == inner.timeout
    assert server.asked[-1][1]["x-of"] == "the client"
    assert seen == ["POST"]


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_async_clients_of_both_libraries_are_wrapped(library: Any, server: Echoing) -> None:
    async def scenario() -> None:
        inner = library.AsyncClient(headers={"x-of": "the client"})
        given = AsyncOpenAI(base_url=server.url, api_key="any", http_client=inner)
        async with stateful(given) as client:
            assert isinstance(client._client, library.AsyncClient)
            await client.responses.create(model="sim", input="Hello")

    asyncio.run(scenario())
    assert server.asked[-1][1]["x-of"] == "the client"


def test_client_subclass_sends_with_its_own_method(server: Echoing) -> None:
    class Counting(httpx2.Client):
        sent = 0

        def send(self, *args: Any, **options: Any) -> httpx2.Response:
            self.sent += 1
            return super().send(*args, **options)

    inner = Counting()
    client = stateful(OpenAI(base_url=server.url, api_key="any", http_client=inner))
    client.responses.create(model="sim", input="Hello")
    assert inner.sent == 1


def test_a_hook_may_read_the_answer_first(server: Echoing) -> None:
    hooks: Any = {"response": [lambda response: response.read()]}
    inner = httpx2.Client(event_hooks=hooks)
    client = stateful(OpenAI(base_url=server.url, api_key="any", http_client=inner))
    assert client.responses.create(model="sim", input="Hello").id == "resp_1"


def test_closing_either_closes_both_once(server: Echoing) -> None:
    given = OpenAI(base_url=server.url, api_key="any")
    with stateful(given) as client:
        assert not given.is_closed()
    assert client.is_closed() and given.is_closed()
    client.close()


def test_closing_either_closes_both_in_a_loop() -> None:
    async def scenario() -> None:
        given = AsyncOpenAI(base_url="http://127.0.0.1:1/v1", api_key="any")
        async with stateful(given) as client:
            assert not given.is_closed()
        assert client.is_closed() and given.is_closed()

    asyncio.run(scenario())


def test_it_outlives_the_client_that_was_given(server: Echoing) -> None:
    given = OpenAI(base_url=server.url, api_key="any")
    gone = weakref.ref(given)
    client = stateful(given)
    del given
    gc.collect()
    assert gone() is None
    assert client.responses.create(model="sim", input="Hello").id == "resp_1"


def test_stateful_client_is_not_wrapped_twice(server: Echoing) -> None:
    client = stateful(OpenAI(base_url=server.url, api_key="any"))
    assert stateful(client) is client


def test_unknown_http_client_is_rejected(server: Echoing) -> None:
    client = OpenAI(base_url=server.url, api_key="any")
    client._client = object()  # type: ignore[assignment]
    with pytest.raises(TypeError, match="must be one of httpx2 or httpx, not object"):
        stateful(client)


def test_an_azure_client_stays_one(server: Echoing) -> None:
    given = openai.AzureOpenAI(
        azure_endpoint=server.url.removesuffix("/v1"), api_key="any", api_version="2025-04-01"
    )
    client = stateful(given)
    client.responses.create(model="sim", input="Hello")
    assert type(client) is openai.AzureOpenAI
    assert server.asked[-1][0].endswith("/responses?api-version=2025-04-01")


def test_import_without_the_sdk_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("antiphon.openai")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ImportError, match="antiphon.openai needs the package 'openai'"):
        import antiphon.openai  # noqa: F401
