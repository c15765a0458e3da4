"""The plain openai SDK, with what its server holds kept in mind.

    from antiphon.openai import whole

    client = whole(OpenAI())

What the conversation or the chain of a `responses.create`, `.parse` or `.stream` holds already is
left out of what is sent, what the server would refuse is mended, and what a turn that broke off has
left is asked for before the next. Answers come as the server gives them.

What was done stands in the headers `antiphon-resent` and `antiphon-repairs` of the raw response,
and goes to the logger `antiphon`: how many and which faults, never what was said.

Requests over a WebSocket (`responses.connect`) do not pass here.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

try:
    import openai
except ImportError as error:
    raise ImportError("antiphon.openai needs the package 'openai': pip install openai") from error

from antiphon._given import described
from antiphon._native import Companion

from ._async import WholeAsyncClient
from ._exchange import DELIVERY
from ._library import library_of, over
from ._sync import WholeClient

__all__ = ["adeliver", "deliver", "whole"]

Client = TypeVar("Client", bound="openai.OpenAI | openai.AsyncOpenAI")

AT_ONCE = 20
"""How many items a conversation takes in one request."""

_companions: WeakKeyDictionary[object, Companion] = WeakKeyDictionary()
"""The companions of http clients: one for each, however often it is asked for."""


def whole(client: Client) -> Client:
    """A client of the same class and with the same options, that keeps conversations whole.

    It goes by way of the given client's own http client, and shares all it has: proxies, timeouts,
    hooks, connections. Closing either closes both. Its copies (`with_options`) share what is known
    of conversations, and so do the clients that further calls with the same client give.

    Raises `TypeError` for what is no client.
    """
    if not isinstance(client, (openai.OpenAI, openai.AsyncOpenAI)):
        raise TypeError(f"whole takes an OpenAI or AsyncOpenAI client, not {described(client)}")
    given: Any = client._client
    if isinstance(given, (WholeClient, WholeAsyncClient)):
        return client
    library = library_of(given)
    companion = _companions.setdefault(given, Companion(secrets.token_bytes(16)))
    if isinstance(client, openai.OpenAI):
        made = over(WholeClient, library.Client)
    else:
        made = over(WholeAsyncClient, library.AsyncClient)
    copy: Any = client.copy
    return cast(Client, copy(http_client=made(given, companion)))


def deliver(client: openai.OpenAI, conversation: str, items: Iterable[Any]) -> int:
    """Posts the outputs of tools that a conversation waits for, without a turn of the model's.

    Of the items those go to the conversation whose calls it holds and has no output for; the others
    are left out. Returns how many went. Errors are the SDK's.
    """
    create = whole(client).conversations.items.create
    posts = (
        create(conversation, items=some, extra_headers={DELIVERY: "true"}) for some in _posts(items)
    )
    return sum(len(posted.data) for posted in posts)


async def adeliver(client: openai.AsyncOpenAI, conversation: str, items: Iterable[Any]) -> int:
    """The same as `deliver`, with an async client."""
    create = whole(client).conversations.items.create
    posts = [
        await create(conversation, items=some, extra_headers={DELIVERY: "true"})
        for some in _posts(items)
    ]
    return sum(len(posted.data) for posted in posts)


def _posts(items: Iterable[Any]) -> list[list[Any]]:
    """As many items at a time as the Conversations API takes."""
    given = list(items)
    return [given[start : start + AT_ONCE] for start in range(0, len(given), AT_ONCE)]
