"""Repairs lists of messages, and changes as few messages as possible."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage

import antiphon
from antiphon._messages.changes import copy_with, placeholder
from antiphon._messages.part import Item, Part
from antiphon._messages.parts import parts_of

logger = logging.getLogger("antiphon")


@dataclass
class RepairedMessages:
    """A repaired list of messages."""

    messages: list[BaseMessage]
    """The messages to send. A message that needs no repair is the same object as in the input."""
    mends: list[antiphon.Mend]
    """The repairs. Positions are those of items, not of messages."""


def repair_messages(
    messages: Iterable[BaseMessage], policy: str | None = None
) -> RepairedMessages:
    """Repairs the list as `antiphon.repair` repairs items. Does not modify its arguments.

    Raises a `Fault` if the policy rejects it.
    """
    view = repair_once(messages, policy)
    if view.mends:
        # If one message has a call and then reasoning, an output that is added after the message
        # separates the reasoning from the item that must follow it. A second pass removes it.
        again = repair_once(view.messages, policy)
        view = RepairedMessages(again.messages, view.mends + again.mends)
    for mend in view.mends:
        logger.warning("repaired a history: %s, %s: %s", mend.fault, mend.action, mend.message)
    return view


def repair_once(messages: Iterable[BaseMessage], policy: str | None) -> RepairedMessages:
    view = View([Entry(message, parts_of(message)) for message in messages])
    repaired = antiphon.repair(view.items(), policy=policy)
    if repaired.mends:
        view.apply(repaired.items)
        return RepairedMessages(view.messages(), repaired.mends)
    return RepairedMessages([entry.message for entry in view.entries], [])


@dataclass
class Entry:
    """A message and its repair."""

    message: BaseMessage
    parts: list[Part]
    left: dict[int, Item] = field(default_factory=dict)
    """Its remaining items, by their positions among its parts."""
    added: list[BaseMessage] = field(default_factory=list)
    """Messages that are added after it."""

    def messages(self) -> list[BaseMessage]:
        return [*self.own(), *self.added]

    def own(self) -> list[BaseMessage]:
        given = {number: part.item for number, part in enumerate(self.parts)}
        if self.left == given:
            return [self.message]
        return [copy_with(self.message, self.parts, self.left)] if self.left else []


class View:
    """A list of messages as one list of items."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.places = [(entry, number) for entry in entries for number in range(len(entry.parts))]

    def items(self) -> list[Item]:
        return [entry.parts[number].item for entry, number in self.places]

    def messages(self) -> list[BaseMessage]:
        return [message for entry in self.entries for message in entry.messages()]

    def apply(self, repaired: list[Item]) -> None:
        """Assigns remaining items to their messages, and added outputs to their calls' messages."""
        last: Entry | None = None
        callers: dict[str | None, Entry] = {}
        for item, source in zip(repaired, sources(self.items(), repaired), strict=True):
            if source is not None:
                last, number = self.places[source]
                last.left[number] = item
                if call_id := item.get("call_id"):
                    callers.setdefault(call_id, last)
            elif caller := callers.get(item.get("call_id"), last):
                caller.added.append(placeholder(item, caller.message))


def sources(given: list[Item], repaired: list[Item]) -> list[int | None]:
    """For each repaired item, the position of its original in `given`, or None if it was added.

    A repair preserves the order, and returns unchanged items as the same objects. In a changed
    item, only ids differ.
    """
    positions = {id(item): position for position, item in enumerate(given)}
    found = [positions.get(id(item)) for item in repaired]
    ends = next_positions(found, len(given))
    last = -1
    for number, item in enumerate(repaired):
        if found[number] is None:
            between = range(last + 1, ends[number])
            found[number] = next((p for p in between if is_copy(item, given[p])), None)
        if (position := found[number]) is not None:
            last = position
    return found


def next_positions(found: list[int | None], end: int) -> list[int]:
    """For each index, the next known position, or the end."""
    ends = []
    for position in reversed(found):
        end = end if position is None else position
        ends.append(end)
    return ends[::-1]


IDS = ("id", "call_id")


def is_copy(item: Item, given: Item) -> bool:
    """Whether the items differ only in their ids."""
    return all(item.get(key) == given.get(key) for key in {*item, *given} if key not in IDS)
