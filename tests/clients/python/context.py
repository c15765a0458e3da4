"""What the model was given, request by request, and what it must have been given.

The provider keeps every request that it received. A client that answers well may still have made
the model read an item twice, so the suites look at the requests, not only at the answers.
"""

import json
import os
from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from dialogue import Dialogue

TIMEOUT = 10

# The suites ask for no reasoning: what there is of it is what the model does by itself.
REASONS = os.environ.get("UPSTREAM_REASONS_UNASKED", "yes") == "yes"

# What becomes of a turn that is left, at a provider that keeps the state; empty where it keeps none.
ON_ABORT = os.environ.get("UPSTREAM_ON_ABORT", "")

# Kinds that the oldest versions of some clients lose, and the newest keep.
LOST_BY_OLDEST = frozenset({"reasoning"} if os.environ.get("CLIENTS_LOSE_MORE") == "yes" else ())

Item = dict[str, Any]


@dataclass(frozen=True)
class ModelRequest:
    """One request for an answer: the items that it brought, those that the model was given, which
    are more where the provider has some already, its size, and its refusal if there was one.
    """

    sent: list[Item]
    items: list[Item]
    size: int
    refusal: Any

    @classmethod
    def of(cls, entry: Item) -> "ModelRequest":
        """A request by its entry of the provider's log."""
        sent = input_items(entry["body"])
        given, size = entry.get("given"), entry.get("bytes", 0)
        return cls(sent, sent if given is None else given, size, entry["refusal"])

    @property
    def kinds(self) -> list[str]:
        return [kind(item) for item in self.items]

    @property
    def line(self) -> str:
        refused = f"  REFUSED: {self.refusal['message']}" if self.refusal else ""
        return " ".join(self.kinds) + refused


@dataclass(frozen=True)
class Tenant:
    """One caller of the gateway, alone with its key: what bears the key is this test's."""

    base_url: str
    upstream_url: str
    api_key: str
    # Whether its clients are Azure's.
    uses_azure: bool = False

    @property
    def root(self) -> str:
        """The address of the gateway, without a path."""
        address = urlsplit(self.base_url)
        return f"{address.scheme}://{address.netloc}"

    def model_requests(self) -> list[ModelRequest]:
        """Every request that reached the model on behalf of this tenant, in order."""
        root = urlsplit(self.upstream_url)
        query = urlencode({"token": self.api_key})
        log = fetch(f"{root.scheme}://{root.netloc}/log?{query}")
        return [ModelRequest.of(entry) for entry in log if asks_the_model(entry)]

    def model_log(self) -> str:
        """The requests for a reader: a line for each."""
        return "\n".join(request.line for request in self.model_requests())

    def stop_next_answer(self, place: str) -> None:
        """Has the model stop its next answer in the middle, until its reader leaves."""
        root = urlsplit(self.upstream_url)
        query = urlencode({"token": self.api_key, "at": place})
        fetch(f"{root.scheme}://{root.netloc}/hold?{query}", body="")

    def conversation_items(self, conversation_id: str) -> list[Item]:
        """What the gateway holds of a conversation, oldest first."""
        url = f"{self.base_url}/conversations/{conversation_id}/items?order=asc&limit=100"
        return fetch(url, self.api_key)["data"]

    def new_conversation(self) -> str:
        """The id of a conversation made for this tenant."""
        return fetch(f"{self.base_url}/conversations", self.api_key, body={})["id"]


def assert_each_item_once(
    tenant: Tenant, dialogue: Dialogue, without: frozenset[str] = frozenset()
) -> None:
    """The model got four requests, each with the conversation so far and every item of it once.

    `without` names kinds that the client keeps from a server which holds no state for it: their
    absence is the client's doing.
    """
    requests = tenant.model_requests()
    assert [request.refusal for request in requests if request.refusal] == []
    kept = [[k for k in request.kinds if k not in without] for request in requests]
    expected = [[k for k in kinds if k not in without] for kinds in whole_contexts(dialogue.calls)]
    assert kept == expected
    for request in requests:
        assert_nothing_repeated(request.items)
        assert_texts(request.items, dialogue)
        assert_outputs_answer_calls(request.items)


def assert_conversation_holds(tenant: Tenant, conversation_id: str, dialogue: Dialogue) -> None:
    """The gateway holds the conversation, the last answer too, every item once and finished."""
    items = tenant.conversation_items(conversation_id)
    assert [kind(item) for item in items] == [*whole_contexts(dialogue.calls)[-1], "assistant"]
    assert_nothing_repeated(items)
    assert_texts(items, dialogue)
    assert_outputs_answer_calls(items)
    assert {item.get("status") or "completed" for item in items} == {"completed"}


def assert_only_new_is_sent(tenant: Tenant, dialogue: Dialogue) -> None:
    """Where the provider keeps the conversation, a request brings what it does not have."""
    if ON_ABORT:
        sent = [[kind(item) for item in request.sent] for request in tenant.model_requests()]
        assert sent == [["user"], ["user"], ["function_call_output"] * dialogue.calls, ["user"]]


def whole_contexts(calls: int) -> list[list[str]]:
    """The kinds of items in each of the four requests, where the tool turn makes `calls` calls."""
    fact = ["user"]
    echo = [*fact, "assistant", "user"]
    step = [*["function_call"] * calls, *["function_call_output"] * calls]
    outputs = [*echo, *["reasoning"] * REASONS, *step]
    recall = [*outputs, "assistant", "user"]
    return [fact, echo, outputs, recall]


def assert_nothing_repeated(items: list[Item]) -> None:
    ids = Counter(item["id"] for item in items if item.get("id"))
    calls = Counter((kind(item), item["call_id"]) for item in items if item.get("call_id"))
    repeated = [key for key, count in (ids | calls).items() if count > 1]
    assert repeated == []


def assert_texts(items: list[Item], dialogue: Dialogue) -> None:
    """What the users and the assistant said is what was said, in its order and nothing more."""
    said = [text(item) for item in items if kind(item) == "user"]
    answered = [text(item) for item in items if kind(item) == "assistant"]
    assert said == dialogue.said[: len(said)]
    assert answered == dialogue.answers[: len(answered)]


def assert_outputs_answer_calls(items: list[Item]) -> None:
    calls = [item["call_id"] for item in items if kind(item) == "function_call"]
    outputs = [item for item in items if kind(item) == "function_call_output"]
    assert [output["call_id"] for output in outputs] == calls[: len(outputs)]
    assert all("hello" in text_of(output["output"]) for output in outputs)


def asks_the_model(entry: Item) -> bool:
    """Whether an entry of the provider's log is a request for an answer."""
    method, path = entry.get("method", "POST"), entry.get("path", "/v1/responses")
    return method == "POST" and path.endswith("/v1/responses")


def input_items(body: Item) -> list[Item]:
    """The input as items: a bare string is one user message."""
    given = body.get("input", [])
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def kind(item: Item) -> str:
    """A message's role, any other item's type."""
    item_type = item.get("type", "message")
    return item["role"] if item_type == "message" else item_type


def text(item: Item) -> str:
    return text_of(item["content"])


def text_of(content: str | list[Item]) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def fetch(url: str, api_key: str | None = None, body: Any = None) -> Any:
    """The JSON answer of a server of this machine; a request with a body is a POST."""
    headers = {"content-type": "application/json"}
    if api_key:
        headers["authorization"] = f"Bearer {api_key}"
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data=content, headers=headers), timeout=TIMEOUT) as response:
        return json.loads(response.read() or b"null")
