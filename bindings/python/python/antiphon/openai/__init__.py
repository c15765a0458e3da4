"""Wraps a client of the plain openai SDK, so that it sends each item to a conversation once.

    from antiphon.openai import stateful

    client = stateful(OpenAI())

For `responses.create`, `.parse` and `.stream`, the client leaves out the items that the
conversation or the chain already holds, and repairs input that the server would reject. After an
interrupted turn it lists the conversation's items before the next turn. Each call of an answer is
there once, even if the server sends it twice, and every stream ends.

The headers `antiphon-resent` and `antiphon-repairs` of the raw response and the logger `antiphon`
report the number of items left out and the faults, without message text.

Requests over a WebSocket (`responses.connect`) do not go through this module.
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

from antiphon._arguments import describe
from antiphon._native import StatefulClient

from ._async import StatefulAsyncHttpClient
from ._exchange import DELIVERY
from ._library import library_of, over
from ._sync import StatefulHttpClient

__all__ = ["adeliver", "deliver", "stateful", "whole"]

Client = TypeVar("Client", bound="openai.OpenAI | openai.AsyncOpenAI")

AT_ONCE = 20
"""The number of items that the Conversations API accepts in one request."""

_clients: WeakKeyDictionary[object, StatefulClient] = WeakKeyDictionary()
"""One stateful client for each http client."""


def stateful(client: Client) -> Client:
    """Returns a client of the same class and options that tracks the state of its conversations.

    The new client uses the given client's http client: its proxies, timeouts, hooks and
    connections. Closing one closes both. Its copies (`with_options`) share its knowledge of
    conversations, and so do the results of further calls with the same client.

    Raises `TypeError` for any other value.
    """
    if not isinstance(client, (openai.OpenAI, openai.AsyncOpenAI)):
        raise TypeError(f"client must be an OpenAI or AsyncOpenAI client, not {describe(client)}")
    given: Any = client._client
    if isinstance(given, (StatefulHttpClient, StatefulAsyncHttpClient)):
        return client
    library = library_of(given)
    stateful_client = _clients.setdefault(given, StatefulClient(secrets.token_bytes(16)))
    if isinstance(client, openai.OpenAI):
        http_class = over(StatefulHttpClient, library.Client)
    else:
        http_class = over(StatefulAsyncHttpClient, library.AsyncClient)
    copy: Any = client.copy
    return cast(Client, copy(http_client=http_class(given, stateful_client)))


whole = stateful
"""An alias of `stateful`."""


def deliver(client: openai.OpenAI, conversation: str, items: Iterable[Any]) -> int:
    """Posts tool outputs to a conversation without a model turn.

    Posts the items that answer an open call of the conversation, and leaves out the others.
    Returns the number of posted items. Raises the SDK's errors.
    """
    create = stateful(client).conversations.items.create
    posts = (
        create(conversation, items=some, extra_headers={DELIVERY: "true"}) for some in _posts(items)
    )
    return sum(len(posted.data) for posted in posts)


async def adeliver(client: openai.AsyncOpenAI, conversation: str, items: Iterable[Any]) -> int:
    """Does the same as `deliver`, with an async client."""
    create = stateful(client).conversations.items.create
    posts = [
        await create(conversation, items=some, extra_headers={DELIVERY: "true"})
        for some in _posts(items)
    ]
    return sum(len(posted.data) for posted in posts)


def _posts(items: Iterable[Any]) -> list[list[Any]]:
    """Splits the items into lists that the Conversations API accepts."""
    given = list(items)
    return [given[start : start + AT_ONCE] for start in range(0, len(given), AT_ONCE)]
