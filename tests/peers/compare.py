"""Compares Antiphon with other gateways: what happens to a conversation after faults.

Each gateway runs in front of this project's own strict test provider. The client is the official
`openai` package. The script prints a table of results in Markdown. README.md describes the setup.
"""

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import openai
from gateways import GATEWAYS, Gateway
from running import Running

REPOSITORY = Path(__file__).resolve().parents[2]
KILLS = 5
# The time between an aborted stream and the next turn; a slow upstream ends its answer in it.
PAUSE = 1
SLOW_PAUSE = 5

FACT = "My color is purple, dog is Biscuit"
RECALL = "What is my color and dog name?"
ECHO = {
    "type": "function",
    "name": "echo",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
}


class Dialogue:
    """Turns that continue each other: in a conversation, or by the id of the last response."""

    def __init__(self, running: Running, form: str):
        self.running, self.client = running, running.client
        self.link = {}
        self.form = form
        if form == "conversation":
            self.link = {"conversation": self.client.conversations.create().id}

    def ask(self, text_or_items, **parameters):
        answer = self.client.responses.create(
            model=self.running.gateway.model, input=text_or_items, **self.link, **parameters
        )
        if not parameters.get("stream"):
            self.continue_from(answer.id)
        return answer

    def continue_from(self, response_id: str) -> None:
        if self.form == "chain":
            self.link = {"previous_response_id": response_id}

    def ask_and_leave(self, text: str, place: str, last_event: str, **parameters) -> list:
        """Asks for a stream, reads it up to an event, and closes the connection."""
        self.running.hold_next_answer(place)
        events = []
        with self.ask(text, stream=True, **parameters) as stream:
            try:
                for event in stream:
                    events.append(event)
                    is_reasoning = getattr(getattr(event, "item", None), "type", "") == "reasoning"
                    if event.type == last_event and not is_reasoning:
                        break
            except (openai.APITimeoutError, openai.APIError, OSError) as error:
                print(f"  the stream ended before {last_event}: {error!r}", file=sys.stderr)
        announced = [event.response.id for event in events if event.type == "response.created"]
        if announced:
            self.continue_from(announced[0])
        time.sleep(SLOW_PAUSE if self.running.is_slow else PAUSE)
        return events

    def outcome(self, text_or_items, **parameters) -> str:
        """The result of one more turn, in words."""
        try:
            answer = self.ask(text_or_items, **parameters)
        except openai.APIStatusError as error:
            message = (error.body or {}).get("message") if isinstance(error.body, dict) else None
            return f"status {error.status_code}: {message or error.message}"
        except openai.OpenAIError as error:
            return f"no answer: {error}"
        given = self.running.last_model_input()
        calls = [item.name for item in answer.output if item.type == "function_call"]
        said = answer.output_text or (f"calls {calls}" if calls else "nothing")
        return f"`{said}` (the fact {given.count(FACT)} times)"


def no_fault(dialogue: Dialogue) -> str:
    """The control: a streamed turn, and at once the next one."""
    with dialogue.ask(FACT, stream=True) as stream:
        for event in stream:
            if event.type == "response.completed":
                dialogue.continue_from(event.response.id)
    return dialogue.outcome(RECALL)


def item_sent_again(dialogue: Dialogue) -> str:
    """The client sends the whole history although the server holds it."""
    history = [{"role": "user", "content": FACT}]
    first = dialogue.ask(history)
    history += [item.model_dump(exclude_none=True) for item in first.output]
    return dialogue.outcome([*history, {"role": "user", "content": RECALL}])


def aborted_text(dialogue: Dialogue) -> str:
    """The client leaves in the middle of a text; the next turn asks for the fact of that turn."""
    dialogue.ask("Hello")
    dialogue.ask_and_leave(FACT, "in_text", "response.output_text.delta")
    return dialogue.outcome(RECALL)


def aborted_call(dialogue: Dialogue) -> str:
    """The client leaves in the middle of a call's arguments; the next turn asks something else."""
    dialogue.ask(FACT)
    dialogue.ask_and_leave(
        "Echo hello", "in_arguments", "response.function_call_arguments.delta", tools=[ECHO]
    )
    return dialogue.outcome(RECALL, tools=[ECHO])


def missing_output(dialogue: Dialogue) -> str:
    """The model calls a tool; the next turn has a user's message in place of the output."""
    dialogue.ask(FACT)
    dialogue.ask("Echo hello", tools=[ECHO])
    return dialogue.outcome(RECALL, tools=[ECHO])


def output_of_aborted_call(dialogue: Dialogue) -> str:
    """The client leaves when a call is done, runs the tool, and sends the output."""
    return outcome_of_output(dialogue, "response.output_item.done")


def output_after_arguments(dialogue: Dialogue) -> str:
    """The same, one event earlier: the arguments of the call are done, but not the item."""
    return outcome_of_output(dialogue, "response.function_call_arguments.done")


def outcome_of_output(dialogue: Dialogue, last_event: str) -> str:
    dialogue.ask(FACT)
    events = dialogue.ask_and_leave("Echo hello", "behind_call", last_event, tools=[ECHO])
    items = [event.item for event in events if event.type == "response.output_item.added"]
    calls = [item for item in items if item.type == "function_call"]
    if not calls:
        return "no call arrived"
    output = {"type": "function_call_output", "call_id": calls[0].call_id, "output": "hello"}
    return dialogue.outcome([output], tools=[ECHO])


def killed_after_last_event(dialogue: Dialogue) -> str:
    """The gateway is killed when the client has the last event; a new process continues."""
    running, form = dialogue.running, dialogue.form
    if not running.gateway.command:
        return "not measured: the provider stores in memory"
    outcomes = []
    for _ in range(KILLS):
        dialogue = Dialogue(running, form)
        with dialogue.ask(FACT, stream=True) as stream:
            for event in stream:
                if event.type == "response.completed":
                    running.kill_gateway()
                    dialogue.continue_from(event.response.id)
                    break
        running.restart_gateway()
        outcomes.append(without_ids(dialogue.outcome(RECALL)))
    counts = Counter(outcomes).most_common()
    return "; ".join(f"{count} of {KILLS}: {outcome}" for outcome, count in counts)


def without_ids(text: str) -> str:
    return re.sub(r"\b(resp|conv|msg|rs|call)_[0-9a-f-]{8,}", r"\1_…", text)


CASES = [
    no_fault,
    item_sent_again,
    aborted_text,
    aborted_call,
    missing_output,
    output_of_aborted_call,
    output_after_arguments,
    killed_after_last_event,
]


@contextmanager
def run_gateway(gateway: Gateway, options: argparse.Namespace) -> Iterator[Running]:
    directory = Path(tempfile.mkdtemp(prefix="compare-"))
    print(f"{gateway.name}: logs in {directory}", file=sys.stderr)
    running = Running(gateway, options, directory)
    try:
        running.await_answer()
        yield running
    finally:
        running.close()


def print_version(gateway: Gateway, options: argparse.Namespace) -> None:
    command = shlex.split(gateway.version.format(antiphon=options.antiphon, venvs=options.venvs))
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    print(f"- {gateway.name}: {version}")


def forms_of(running: Running) -> list[str]:
    """The ways to continue a dialogue that the gateway serves."""
    try:
        running.client.conversations.create()
    except openai.OpenAIError as error:
        print(f"  no conversations: {error}", file=sys.stderr)
        return ["chain"]
    return ["chain", "conversation"]


def compare(gateway: Gateway, options: argparse.Namespace) -> None:
    """Prints a row for each case and form of a gateway."""
    with run_gateway(gateway, options) as running:
        for form in forms_of(running):
            for case in [it for it in CASES if options.case in it.__name__]:
                try:
                    outcome = case(Dialogue(running, form))
                except (openai.OpenAIError, RuntimeError) as error:
                    outcome = f"an earlier turn failed: {error}"
                cell = without_ids(outcome).replace("\n", " ").replace("|", "\\|")
                print(f"| {gateway.name} | {form} | {case.__name__} | {cell} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--antiphon", default=REPOSITORY / "target/debug/antiphon")
    parser.add_argument("--provider", default="{antiphon} mock")
    parser.add_argument("--chat-provider", default=REPOSITORY / "target/debug/fake-upstream")
    parser.add_argument("--venvs", default=REPOSITORY / "target/peers", help="see README.md")
    parser.add_argument("--slow", action="store_true", help="slow answers that never stop")
    parser.add_argument("--case", default="", help="a part of the names of the cases to run")
    parser.add_argument("--only", help="a part of the names of the gateways to run")
    options = parser.parse_args()
    chosen = [it for it in GATEWAYS if not options.only or options.only in it.name]
    for gateway in chosen:
        print_version(gateway, options)
    print(f"- client: openai {openai.__version__}\n")
    print("| gateway | form | case | result |\n|---|---|---|---|", flush=True)
    for gateway in chosen:
        try:
            compare(gateway, options)
        except RuntimeError as error:
            print(f"| {gateway.name} | | | not measured: {error} |", flush=True)


if __name__ == "__main__":
    main()
