"""What the suites run against: the API of the upstream, who keeps the state, and what a client can
tell of both.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Setup:
    """A gateway and what is behind it, by name."""

    name: str
    # The API of the upstream, by its name in the gateway's settings.
    api: str = "responses"
    # Whether a model that reasons does so where a request says nothing about it.
    reasons_unasked: bool = True
    # Whether it refuses calls without the reasoning that they were made with. A gateway learns that
    # by the first refusal.
    wants_reasoning_back: bool = False
    # Whether it tells that a call is whole before the whole answer is.
    ends_calls: bool = True

    # What becomes of a turn whose caller leaves, at an upstream that keeps the state: it is kept in
    # part, whole, or not at all. None: the gateway keeps the state.
    on_abort: str | None = None
    # The provider that keeps it, and the path of its API.
    profile: str = "openai"
    path: str = "/v1"
    # Whether the run starts a gateway.
    starts_gateway: bool = True
    # The suites of a short run, where they are not all.
    short: tuple[str, ...] | None = None
    # The suites that it is for, where they are not all, and those that it is not for.
    suites: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    # Which tests are run, by what their names contain: for pytest, and for Node.
    only: tuple[str, str] | None = None

    @property
    def env(self) -> dict[str, str]:
        """What the suites have to know of it."""
        return {
            "UPSTREAM_REASONS_UNASKED": "yes" if self.reasons_unasked else "no",
            "UPSTREAM_ENDS_CALLS": "yes" if self.ends_calls else "no",
            "UPSTREAM_API": self.api,
            "UPSTREAM_ON_ABORT": self.on_abort or "",
            "HAS_GATEWAY": "yes" if self.starts_gateway else "no",
        }


# The official clients.
OFFICIAL = ("openai", "openai_node")

# The clients of Chat Completions, of Anthropic's and of Google's API, which keep their history
# themselves.
CHAT = ("chat", "chat_node")
ANTHROPICS = ("anthropic", "anthropic_node", "ai_sdk_anthropic", "claude_code")
GOOGLES = ("google_genai", "google_genai_node", "gemini_cli")
WITHOUT_STATE = (*CHAT, *ANTHROPICS, *GOOGLES)

# Those of a short run in front of another API.
TRANSLATED = (*OFFICIAL, *WITHOUT_STATE, "reasoning", "codex")

# The suites without a dialogue.
WITHOUT_DIALOGUE = ("openai_methods", "openai_node_methods", "reasoning")

# Clients that between them keep a conversation in every way.
EVERY_WAY = ("openai", "langchain", "ai_sdk")

# Clients that have more than their own replay, each once.
STATEFUL = (
    *EVERY_WAY,
    "openai_methods",
    "langchain_js",
    "langgraph",
    "langgraph_js",
    "openai_agents",
    "openai_agents_js",
    "agent_framework",
    "azure",
)

# The tests in which a turn is left in the middle.
LEAVING = ("that_is_left", "left")

SETUPS = {
    setup.name: setup
    for setup in (
        Setup("responses"),
        # As DeepSeek serves it.
        Setup("chat", api="chat", wants_reasoning_back=True, ends_calls=False, short=TRANSLATED),
        # Anthropic's models think where `thinking` is asked for, and else do not.
        Setup("anthropic", api="anthropic", reasons_unasked=False, short=TRANSLATED),
        # `--state upstream`, once for each thing that becomes of a turn whose caller leaves.
        Setup("kept-part", on_abort="part", short=STATEFUL, without=WITHOUT_STATE),
        Setup(
            "kept-whole", on_abort="whole", short=EVERY_WAY, only=LEAVING, without=WITHOUT_STATE
        ),
        # A chain whose last response is gone continues from the copy of that turn.
        Setup(
            "kept-nothing", on_abort="nothing", short=EVERY_WAY, only=LEAVING, without=WITHOUT_STATE
        ),
        # The provider has chains of responses only, at Azure's path.
        Setup("azure", on_abort="part", profile="azure", path="/openai/v1", suites=("azure",)),
        # The upstream of gateways that `antiphon run` starts.
        Setup("run", starts_gateway=False, suites=("run_command",)),
        # The provider alone: what clients meet without a gateway.
        Setup(
            "provider",
            on_abort="part",
            starts_gateway=False,
            without=("azure", "codex", "opencode", *WITHOUT_STATE, *WITHOUT_DIALOGUE),
        ),
    )
}

# Those that a run meets which names none.
USUAL = [name for name in SETUPS if name != "provider"]
