"""Tool outputs that a run produced and no request has sent."""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Any

from agents import ModelResponse
from agents.items import HandoffOutputItem, RunItem, ToolCallOutputItem, TResponseInputItem

Outputs = list[TResponseInputItem]

Response = tuple[str, str]
"""An account and the id of one of its responses."""


def outputs_of(items: Iterable[RunItem]) -> Outputs:
    """The outputs among a run's items, in the form of input items."""
    kinds = (ToolCallOutputItem, HandoffOutputItem)
    return [item.to_input_item() for item in items if isinstance(item, kinds)]


def matching_outputs(response: ModelResponse, outputs: Iterable[TResponseInputItem]) -> Outputs:
    """The outputs that answer calls of this response: the latest one for each call."""
    calls = [call_id for item in response.output if (call_id := call_id_of(item))]
    by_call = {call_id_of(output): output for output in outputs}
    return [by_call[call_id] for call_id in calls if call_id in by_call]


def call_id_of(item: Any) -> str | None:
    call_id = item.get("call_id") if isinstance(item, dict) else getattr(item, "call_id", None)
    return call_id if isinstance(call_id, str) else None


class UnsentOutputs:
    """Outputs for calls of responses, stored until a run continues the response.

    No API appends to a stored response, so the next request of the chain has to send them. Each
    response belongs to an account, and other accounts cannot find its outputs. Holds at most
    `responses` responses and `characters` of text, and drops the oldest first.
    """

    def __init__(self, responses: int = 256, characters: int = 16_000_000) -> None:
        self._responses = responses
        self._characters = characters
        self._lock = Lock()
        self._stored: OrderedDict[Response, tuple[int, Outputs]] = OrderedDict()

    def store(self, response: Response, outputs: Outputs) -> None:
        """Stores the outputs for calls of a response."""
        with self._lock:
            self._stored[response] = (len(str(outputs)), outputs)
            self._stored.move_to_end(response)
            while self._exceeds_limits():
                self._stored.popitem(last=False)

    def prepend_to(
        self, response: Response, given: str | list[TResponseInputItem]
    ) -> str | list[TResponseInputItem]:
        """The input of a run that continues a response, preceded by the response's outputs."""
        with self._lock:
            _, outputs = self._stored.get(response, (0, []))
        items = [user_message(given)] if isinstance(given, str) else given
        answered = {call_id_of(item) for item in items}
        missing = [output for output in outputs if call_id_of(output) not in answered]
        return [*missing, *items] if missing else given

    def _exceeds_limits(self) -> bool:
        characters = sum(size for size, _ in self._stored.values())
        return len(self._stored) > self._responses or characters > self._characters


def user_message(text: str) -> TResponseInputItem:
    return {"role": "user", "content": text}
