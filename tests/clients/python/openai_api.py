"""The openai library's methods by their names, in each of the forms in which it offers them.

`Api` calls `responses.input_items.list` and the like on a client that blocks or on one that does
not, as it is, by `with_raw_response`, or by `with_streaming_response`. What comes back is the
library's own type in every form.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from openai import AsyncOpenAI, BaseModel, OpenAI
from openai._resource import AsyncAPIResource, SyncAPIResource

# The resources that the gateway answers for.
RESOURCES = ("responses", "conversations")

Form = Callable[[Any, str, tuple[Any, ...], dict[str, Any]], Any]


class Api:
    """A client whose methods are called by name; it remembers which were."""

    def __init__(self, client: OpenAI | AsyncOpenAI, loop: asyncio.Runner, form: Form) -> None:
        self.client = client
        self.called: set[str] = set()
        self._loop = loop
        self._form = form

    @property
    def blocks(self) -> bool:
        """Whether the client is the blocking one."""
        return isinstance(self.client, OpenAI)

    def __call__(self, name: str, *args: Any, **params: Any) -> Any:
        """What the method of this name returns."""
        self.called.add(name)
        resource = self.resource(name)
        return self.awaited(self._form(resource, name.rpartition(".")[2], args, params))

    def direct(self, name: str, *args: Any, **params: Any) -> Any:
        """The same of a method that the library offers in one form only."""
        self.called.add(name)
        return getattr(self.resource(name), name.rpartition(".")[2])(*args, **params)

    def resource(self, name: str) -> Any:
        """The resource that the method of this name belongs to."""
        resource = self.client
        for part in name.split(".")[:-1]:
            resource = getattr(resource, part)
        return resource

    def awaited(self, result: Any) -> Any:
        """The result itself, where it has to be waited for."""
        if not inspect.isawaitable(result):
            return result

        async def wait(awaitable: Awaitable[Any]) -> Any:
            return await awaitable

        return self._loop.run(wait(result))

    def all(self, several: Any) -> list[Any]:
        """Everything that can be iterated over: a stream's events, a list's items on all pages."""
        if self.blocks:
            return list(several)

        async def collect() -> list[Any]:
            return [one async for one in several]

        return self._loop.run(collect())

    def run(self, coroutine: Any) -> Any:
        """What a coroutine of an asynchronous test returns."""
        return self._loop.run(coroutine)


def plain(resource: Any, method: str, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    return getattr(resource, method)(*args, **params)


def raw(resource: Any, method: str, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    answer = getattr(resource.with_raw_response, method)(*args, **params)
    if not inspect.isawaitable(answer):
        return parsed(answer)

    async def wait() -> Any:
        return parsed(await answer)

    return wait()


def streaming(resource: Any, method: str, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    if params.get("stream"):
        return raw(resource, method, args, params)
    manager = getattr(resource.with_streaming_response, method)(*args, **params)
    if hasattr(manager, "__enter__"):
        with manager as answer:
            return parsed(answer)

    async def wait() -> Any:
        async with manager as answer:
            assert answer.status_code == 200
            return await answer.parse()

    return wait()


def parsed(answer: Any) -> Any:
    assert answer.status_code == 200
    assert answer.headers["content-type"]
    return answer.parse()


# Whether the client blocks, and the form of its methods.
FORMS: dict[str, tuple[bool, Form]] = {
    "blocking": (True, plain),
    "blocking_raw": (True, raw),
    "blocking_streaming": (True, streaming),
    "async": (False, plain),
    "async_raw": (False, raw),
    "async_streaming": (False, streaming),
}


def methods_of(client: OpenAI | AsyncOpenAI) -> set[str]:
    """The names of all methods of the resources, found in the library itself."""
    names: set[str] = set()
    for name in RESOURCES:
        names.update(methods_within(getattr(client, name), name))
    return names


def methods_within(resource: Any, path: str) -> Iterator[str]:
    cls = type(resource)
    for name, _ in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_"):
            yield f"{path}.{name}"
    for name in dir(cls):
        if name.startswith("_"):
            continue
        inner = getattr(resource, name)
        if isinstance(inner, SyncAPIResource | AsyncAPIResource):
            yield from methods_within(inner, f"{path}.{name}")


def typed(value: Any, cls: type[BaseModel]) -> Any:
    """The value, which is of the library's type and has the shape that the type demands."""
    assert isinstance(value, cls), value
    type(value).model_validate(value.to_dict())
    return value
