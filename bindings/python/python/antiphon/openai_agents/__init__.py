"""The OpenAI Agents SDK, with conversations that stay whole.

    from antiphon.openai_agents import Runner, install

    install()
    Runner.run_sync(agent, "Hello", conversation_id=conversation)

`install` makes every model that the SDK builds from a name send its requests through
`antiphon.openai.whole`: what a conversation or chain holds is not sent again, and what a run has
left there without an answer is answered before the next turn. `Runner` is the SDK's own, and brings
home the outputs of tools with which a run ends. `WholeSession` is for histories that the program
keeps.
"""

try:
    import agents as _sdk
except ImportError as error:
    raise ImportError(
        "antiphon.openai_agents needs the OpenAI Agents SDK: pip install openai-agents"
    ) from error

from antiphon.openai_agents._client import install, provider
from antiphon.openai_agents._line import ConversationBusy
from antiphon.openai_agents._runner import Runner
from antiphon.openai_agents._session import WholeSession

__all__ = ["ConversationBusy", "Runner", "WholeSession", "install", "provider"]

del _sdk
