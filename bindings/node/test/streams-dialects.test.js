// Streams of other dialects than that of the AI SDK.

import assert from "node:assert/strict";
import test from "node:test";

import { toAnthropicStream, toResponsesStream } from "antiphon";

import { eventsOf, ofType, partsOf, types } from "./parts.js";

const CALL = {
  type: "function_call",
  call_id: "call_1",
  name: "echo",
  arguments: "{}",
  status: "completed",
};
const CREATED = { type: "response.created", response: { id: "resp_1", status: "in_progress" } };
const COMPLETED = { type: "response.completed", response: { id: "resp_1", status: "completed" } };

/** The events of a call with this id. */
const callOf = (id, index) =>
  ["response.output_item.added", "response.output_item.done"].map((type) => ({
    type,
    output_index: index,
    item: { ...CALL, id },
  }));

const CHUNKS = [
  { choices: [{ index: 0, delta: { role: "assistant", content: "Hello" } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
];

/** A body of an event stream, in pieces of 7 bytes. */
function bodyOf(events) {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
      controller.close();
    },
  });
}

test("a doubled call of a Responses stream is one item", async () => {
  const given = [CREATED, ...callOf("fc_1", 0), ...callOf("fc_2", 1), COMPLETED];

  const stream = toResponsesStream(partsOf(given), { from: "responses" });
  const events = await eventsOf(stream);

  assert.equal(ofType(events, "response.output_item.done").length, 1);
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, number) => number),
  );
  const { output } = await stream.finalResponse();
  assert.deepEqual(output.map(({ id, call_id }) => [id, call_id]), [["fc_1", "call_1"]]);
});

test("the source can be the body of an answer", async () => {
  const body = bodyOf([...CHUNKS.map((chunk) => ({ object: "chat.completion.chunk", ...chunk }))]);
  const { output } = await toResponsesStream(body, { from: "chat" }).finalResponse();
  assert.deepEqual(output.map(({ content }) => content[0].text), ["Hello"]);
});

test("an API's stream becomes Anthropic's events", async () => {
  const events = await eventsOf(toAnthropicStream(partsOf(CHUNKS), { from: "chat" }));
  assert.equal(types(events).at(-1), "message_stop");
});

for (const [what, source] of Object.entries({
  events: () => partsOf([CREATED], () => Promise.reject(new Error("Cut."))),
  bytes: () =>
    partsOf([new TextEncoder().encode(`data: ${JSON.stringify(CREATED)}\n\n`)], () =>
      Promise.reject(new Error("Cut.")),
    ),
})) {
  test(`a source of ${what} that throws fails the answer`, async () => {
    const events = await eventsOf(toResponsesStream(source(), { from: "responses" }));
    const { type, response } = events.at(-1);
    assert.equal(type, "response.failed");
    assert.match(response.error.message, /Cut\./);
  });
}

test("an abort ends the answer as failed", async () => {
  const signal = AbortSignal.abort(new Error("Enough."));
  const options = { from: "responses", signal };
  const events = await eventsOf(toResponsesStream(partsOf([CREATED]), options));
  assert.equal(events.at(-1).response.error.code, "aborted");
});

test("an unknown dialect is refused", () => {
  assert.throws(() => toResponsesStream(partsOf([]), { from: "gemini" }), /^TypeError: from: /);
});
