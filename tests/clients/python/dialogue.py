"""The dialogue that every client holds: a fact, a tool call, a recall."""

from collections.abc import Callable
from dataclasses import dataclass, field

FACT = "My color is purple, dog is Biscuit"
ECHO = "Echo hello"
ECHO_TWICE = "Echo hello twice"
RECALL = "What is my color and dog name?"


@dataclass
class Echo:
    """The local tool behind `echo(text) -> text`; remembers what it heard."""

    heard: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> str:
        self.heard.append(text)
        return text


@dataclass(frozen=True)
class Scene:
    """Which model answers, and how many calls its tool turn makes."""

    model: str
    calls: int = 1

    @property
    def said(self) -> list[str]:
        """What the user says, turn by turn."""
        return [FACT, ECHO if self.calls == 1 else ECHO_TWICE, RECALL]


@dataclass(frozen=True)
class Dialogue:
    """What was said and answered, and how many calls the tool turn made."""

    said: list[str]
    answers: list[str]
    calls: int


def hold_dialogue(scene: Scene, ask: Callable[[str], str], echo: Echo) -> Dialogue:
    """Says the three things through `ask`, and checks the answers and the tool."""
    acknowledgement, echoed, recalled = (ask(text) for text in scene.said)

    assert acknowledgement, "the fact was not answered"
    assert len(echo.heard) == scene.calls, f"the tool ran for {echo.heard}"
    assert all("hello" in text for text in echo.heard), f"the tool heard {echo.heard}"
    assert "hello" in echoed, f"the tool's output is not in {echoed!r}"
    assert "purple" in recalled, f"the color is not in {recalled!r}"
    assert "Biscuit" in recalled, f"the dog is not in {recalled!r}"
    return Dialogue(scene.said, [acknowledgement, echoed, recalled], scene.calls)
