"""The OpenAI Agents SDK with correct conversation state.

    from antiphon.openai_agents import Runner, install

    install()
    Runner.run_sync(agent, "Hello", conversation_id=conversation)

After `install`, every model that the SDK creates from a name sends its requests through
`antiphon.openai.stateful`: items that a conversation or chain holds are not sent again, and calls
that a run left without an output get one before the next turn. `Runner` extends the SDK's runner;
it also posts tool outputs that a run has not sent. `WholeSession` is for histories that the program
stores.
"""

try:
    import agents as _sdk
except ImportError as error:
    raise ImportError(
        "antiphon.openai_agents needs the OpenAI Agents SDK: pip install openai-agents"
    ) from error

from antiphon.openai_agents._client import install, provider
from antiphon.openai_agents._queue import ConversationBusy
from antiphon.openai_agents._runner import Runner
from antiphon.openai_agents._session import WholeSession

__all__ = ["ConversationBusy", "Runner", "WholeSession", "install", "provider"]

del _sdk
