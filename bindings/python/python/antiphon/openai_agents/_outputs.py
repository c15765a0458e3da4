"""The outputs with which a run ends, and that no request has carried."""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Any

from agents import ModelResponse
from agents.items import HandoffOutputItem, RunItem, ToolCallOutputItem, TResponseInputItem

Outputs = list[TResponseInputItem]

Response = tuple[str, str]
"""An account, and the id of a response of its."""


def outputs_of(items: Iterable[RunItem]) -> Outputs:
    """The outputs among a run's items, as a request would carry them."""
    kinds = (ToolCallOutputItem, HandoffOutputItem)
    return [item.to_input_item() for item in items if isinstance(item, kinds)]


def answering(response: ModelResponse, outputs: Iterable[TResponseInputItem]) -> Outputs:
    """Those outputs that answer calls of this response, one for each call, the latest given."""
    calls = [call_id for item in response.output if (call_id := call_id_of(item))]
    by_call = {call_id_of(output): output for output in outputs}
    return [by_call[call_id] for call_id in calls if call_id in by_call]


def call_id_of(item: Any) -> str | None:
    call_id = item.get("call_id") if isinstance(item, dict) else getattr(item, "call_id", None)
    return call_id if isinstance(call_id, str) else None


class Unsent:
    """Outputs for calls of responses, kept until a run goes on from the response.

    No API appends to a stored response: what a chain is to get goes with its next request. Each
    belongs to an account, and is found by no other. Bounded: of the responses that were left last,
    and of their outputs as much as `characters` of text.
    """

    def __init__(self, responses: int = 256, characters: int = 16_000_000) -> None:
        self._responses = responses
        self._characters = characters
        self._lock = Lock()
        self._kept: OrderedDict[Response, tuple[int, Outputs]] = OrderedDict()

    def keep(self, response: Response, outputs: Outputs) -> None:
        """Keeps the outputs for calls of a response."""
        with self._lock:
            self._kept[response] = (len(str(outputs)), outputs)
            self._kept.move_to_end(response)
            while self._is_too_much():
                self._kept.popitem(last=False)

    def before(
        self, response: Response, given: str | list[TResponseInputItem]
    ) -> str | list[TResponseInputItem]:
        """The input of a run that goes on from a response, behind the outputs kept for it."""
        with self._lock:
            _, outputs = self._kept.get(response, (0, []))
        items = [user_message(given)] if isinstance(given, str) else given
        answered = {call_id_of(item) for item in items}
        missing = [output for output in outputs if call_id_of(output) not in answered]
        return [*missing, *items] if missing else given

    def _is_too_much(self) -> bool:
        characters = sum(size for size, _ in self._kept.values())
        return len(self._kept) > self._responses or characters > self._characters


def user_message(text: str) -> TResponseInputItem:
    return {"role": "user", "content": text}
