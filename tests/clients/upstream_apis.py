"""The APIs that a gateway's upstream may speak, and what a client can tell of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class UpstreamApi:
    """An API of the upstream, by its name in the gateway's settings."""

    name: str
    # Whether a model that reasons does so where a request says nothing about it.
    reasons_unasked: bool = True
    # Whether it refuses calls without the reasoning that they were made with. A gateway learns that
    # by the first refusal.
    wants_reasoning_back: bool = False

    # Whether it tells that a call is whole before the whole answer is.
    ends_calls: bool = True

    @property
    def env(self) -> dict[str, str]:
        """What the suites have to know of it."""
        return {
            "UPSTREAM_REASONS_UNASKED": "yes" if self.reasons_unasked else "no",
            "UPSTREAM_ENDS_CALLS": "yes" if self.ends_calls else "no",
        }


UPSTREAM_APIS = {
    api.name: api
    for api in (
        UpstreamApi("responses"),
        # As DeepSeek serves it.
        UpstreamApi("chat", wants_reasoning_back=True, ends_calls=False),
        # Anthropic's models think where `thinking` is asked for, and else do not.
        UpstreamApi("anthropic", reasons_unasked=False),
    )
}
