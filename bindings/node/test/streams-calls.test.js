// A tool call is one item for every sequence of its parts.

import assert from "node:assert/strict";
import test from "node:test";

import { toAnthropicStream, toResponsesStream } from "antiphon";

import { FINISH, eventsOf, ofType, partsOf, types } from "./parts.js";

const INPUT = '{"location":"NYC"}';
const START = { type: "tool-input-start", id: "call_123", toolName: "get_weather" };
const DELTAS = ['{"loc', 'ation":"NYC"}'].map((delta) => ({
  type: "tool-input-delta",
  id: "call_123",
  delta,
}));
const END = { type: "tool-input-end", id: "call_123" };
const CALL = { type: "tool-call", toolCallId: "call_123", toolName: "get_weather", input: INPUT };
const CALL_OF_A_RUN = { ...CALL, input: { location: "NYC" } };

const WAYS = {
  "streams and arrives whole": [START, ...DELTAS, END, CALL],
  "streams and arrives whole without an end of its input": [START, ...DELTAS, CALL],
  "streams and arrives whole, in a run": [START, ...DELTAS, CALL_OF_A_RUN],
  "arrives whole alone": [CALL],
  "only streams": [START, ...DELTAS, END],
  "streams without a start, and arrives whole": [...DELTAS, END, CALL],
  "ends without having begun, and arrives whole": [END, CALL],
  "arrives whole twice": [START, ...DELTAS, END, CALL, CALL],
  "begins twice": [START, START, ...DELTAS, END, CALL],
};

for (const [way, parts] of Object.entries(WAYS)) {
  test(`a call that ${way} is one item`, async () => {
    const events = await eventsOf(toResponsesStream(partsOf([...parts, FINISH])));

    const [added, ...others] = ofType(events, "response.output_item.added");
    assert.deepEqual(others, []);
    assert.equal(added.item.call_id, "call_123");
    const ids = new Set(events.map(({ item, item_id }) => item?.id ?? item_id).filter(Boolean));
    assert.deepEqual([...ids], [added.item.id]);
    const [done] = ofType(events, "response.output_item.done");
    assert.equal(done.item.arguments, INPUT);
    assert.equal(events.at(-1).type, "response.completed");
    assert.deepEqual(events.at(-1).response.output, [done.item]);
  });

  test(`a call that ${way} is one block`, async () => {
    const stream = toAnthropicStream(partsOf([...parts, FINISH]));
    const events = await eventsOf(stream);

    const started = ofType(events, "content_block_start");
    assert.deepEqual(started.map(({ content_block: { type, id } }) => [type, id]), [
      ["tool_use", "call_123"],
    ]);
    assert.equal(types(events).at(-1), "message_stop");
    const { content, stop_reason } = await stream.finalResponse();
    assert.deepEqual(content[0].input, { location: "NYC" });
    assert.equal(stop_reason, "tool_use");
  });
}

test("two calls of one tool are two items", async () => {
  const second = { ...CALL, toolCallId: "call_456" };
  const events = await eventsOf(toResponsesStream(partsOf([START, ...DELTAS, CALL, second, FINISH])));

  const added = ofType(events, "response.output_item.added").map(({ item }) => item.call_id);
  assert.deepEqual(added, ["call_123", "call_456"]);
  const numbers = events.map(({ sequence_number }) => sequence_number);
  assert.deepEqual(numbers, [...numbers.keys()]);
});

test("the request defines custom tools", async () => {
  const parts = [{ ...CALL, toolName: "patch", input: "*** Begin Patch" }, FINISH];
  const request = { model: "gpt-x", tools: [{ type: "custom", name: "patch" }] };
  const response = await toResponsesStream(partsOf(parts), { request }).finalResponse();

  assert.equal(response.model, "gpt-x");
  assert.deepEqual(response.tools, request.tools);
  assert.equal(response.output[0].type, "custom_tool_call");
  assert.equal(response.output[0].input, "*** Begin Patch");
});
