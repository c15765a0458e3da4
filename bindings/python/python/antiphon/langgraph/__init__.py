"""Repairs the histories of LangGraph agents, so that a provider accepts them.

Two hooks for `create_react_agent`, or for any node before a model node:

    create_react_agent(model, tools, pre_model_hook=filter_orphaned_reasoning_messages)
    create_react_agent(model, tools, pre_model_hook=mend_history)

Two middlewares for LangChain's `create_agent`:

    create_agent(model, tools, middleware=[MendHistory()])
    create_agent(model, tools, middleware=[FilterOrphanedReasoning()])

The hooks need `langchain-core`, the middlewares `langchain`.
"""

from typing import TYPE_CHECKING, Any

try:
    import langchain_core  # noqa: F401
except ImportError as missing:
    raise ImportError("antiphon.langgraph needs LangGraph: pip install langgraph") from missing

from antiphon.langgraph.hooks import filter_orphaned_reasoning_messages, mend_history

if TYPE_CHECKING:
    from antiphon.langgraph.middleware import FilterOrphanedReasoning, MendHistory

__all__ = [
    "FilterOrphanedReasoning",
    "MendHistory",
    "filter_orphaned_reasoning_messages",
    "mend_history",
]

MIDDLEWARES = ("FilterOrphanedReasoning", "MendHistory")


def __getattr__(name: str) -> Any:
    """Imports the middlewares on first use, so that the hooks work without `langchain`."""
    if name not in MIDDLEWARES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from antiphon.langgraph import middleware
    except ImportError as missing:
        if missing.name is None or missing.name.split(".")[0] != "langchain":
            raise
        raise ImportError(f"{__name__}.{name} needs LangChain: pip install langchain") from missing
    return getattr(middleware, name)
