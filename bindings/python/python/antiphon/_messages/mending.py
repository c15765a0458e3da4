"""The messages that a provider accepts, and as few of them touched as that takes."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage

import antiphon
from antiphon._messages.changes import changed, made
from antiphon._messages.part import Item, Part
from antiphon._messages.parts import parts_of

logger = logging.getLogger("antiphon")


@dataclass
class MendedMessages:
    """A list of messages that was mended."""

    messages: list[BaseMessage]
    """What to send. A message that needs no change is the very object that was given."""
    mends: list[antiphon.Mend]
    """What was wrong and is not any more. Positions are those of items, not of messages."""


def mended(messages: Iterable[BaseMessage], policy: str | None = None) -> MendedMessages:
    """Mends the list as `antiphon.repair` mends items, and changes nothing that was given.

    Raises a `Fault` where the policy rejects what was found.
    """
    view = mended_once(messages, policy)
    if view.mends:
        # Where reasoning stands behind a call in one message, it was followed until the call's
        # output had to go behind the message.
        again = mended_once(view.messages, policy)
        view = MendedMessages(again.messages, view.mends + again.mends)
    for mend in view.mends:
        logger.warning("mended a history: %s, %s: %s", mend.fault, mend.action, mend.message)
    return view


def mended_once(messages: Iterable[BaseMessage], policy: str | None) -> MendedMessages:
    view = View([Entry(message, parts_of(message)) for message in messages])
    repaired = antiphon.repair(view.items(), policy=policy)
    if repaired.mends:
        view.keep(repaired.items)
        return MendedMessages(view.messages(), repaired.mends)
    return MendedMessages([entry.message for entry in view.entries], [])


@dataclass
class Entry:
    """A message, and what came of it."""

    message: BaseMessage
    parts: list[Part]
    left: dict[int, Item] = field(default_factory=dict)
    """What is left of its items, by their positions among its parts."""
    behind: list[BaseMessage] = field(default_factory=list)
    """What was put behind it."""

    def messages(self) -> list[BaseMessage]:
        return [*self.own(), *self.behind]

    def own(self) -> list[BaseMessage]:
        given = {number: part.item for number, part in enumerate(self.parts)}
        if self.left == given:
            return [self.message]
        return [changed(self.message, self.parts, self.left)] if self.left else []


class View:
    """Messages as one list of items, and as messages again."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.places = [(entry, number) for entry in entries for number in range(len(entry.parts))]

    def items(self) -> list[Item]:
        return [entry.parts[number].item for entry, number in self.places]

    def messages(self) -> list[BaseMessage]:
        return [message for entry in self.entries for message in entry.messages()]

    def keep(self, repaired: list[Item]) -> None:
        """Puts what is left where it was, and what was made behind the call that it answers."""
        last: Entry | None = None
        callers: dict[str | None, Entry] = {}
        for item, source in zip(repaired, sources(self.items(), repaired), strict=True):
            if source is not None:
                last, number = self.places[source]
                last.left[number] = item
                if call_id := item.get("call_id"):
                    callers.setdefault(call_id, last)
            elif caller := callers.get(item.get("call_id"), last):
                caller.behind.append(made(item, caller.message))


def sources(given: list[Item], repaired: list[Item]) -> list[int | None]:
    """For every repaired item the position of the one that it is, or is a changed copy of.

    A repair keeps the order, and the very objects of what it does not change; what it changes, it
    changes only the ids of.
    """
    positions = {id(item): position for position, item in enumerate(given)}
    found = [positions.get(id(item)) for item in repaired]
    ends = following(found, len(given))
    last = -1
    for number, item in enumerate(repaired):
        if found[number] is None:
            between = range(last + 1, ends[number])
            found[number] = next((p for p in between if is_copy(item, given[p])), None)
        if (position := found[number]) is not None:
            last = position
    return found


def following(found: list[int | None], end: int) -> list[int]:
    """For every place the next position that is known, or the end."""
    ends = []
    for position in reversed(found):
        end = end if position is None else position
        ends.append(end)
    return ends[::-1]


IDS = ("id", "call_id")


def is_copy(item: Item, given: Item) -> bool:
    """Whether the item is the given one with other ids."""
    return all(item.get(key) == given.get(key) for key in {*item, *given} if key not in IDS)
