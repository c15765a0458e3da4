// Streams of AI SDK version 6, whose parts have other usage and finish values.

import assert from "node:assert/strict";
import test from "node:test";

import { simulateReadableStream, stepCountIs, streamText, tool } from "ai-v6";
import { MockLanguageModelV3 } from "ai-v6/test";
import { z } from "zod";

import { toAnthropicStream, toResponsesStream } from "antiphon";

import { FINISH, eventsOf, ofType, text } from "./parts.js";

const CALL = { type: "tool-call", toolCallId: "call_1", toolName: "look", input: '{"city":"Paris"}' };
const CALLING = [
  { type: "stream-start", warnings: [] },
  { type: "tool-input-start", id: "call_1", toolName: "look" },
  { type: "tool-input-delta", id: "call_1", delta: CALL.input },
  { type: "tool-input-end", id: "call_1" },
  CALL,
  { ...FINISH, finishReason: { unified: "tool-calls", raw: "tool_calls" } },
];
const ANSWERING = [{ type: "stream-start", warnings: [] }, ...text("It is ", "sunny."), FINISH];

function run(execute, ...answers) {
  const doStream = answers.map((chunks) => ({ stream: simulateReadableStream({ chunks }) }));
  const model = new MockLanguageModelV3({ doStream });
  const look = tool({ inputSchema: z.object({ city: z.string() }), execute });
  return streamText({ model, prompt: "Weather?", tools: { look }, stopWhen: stepCountIs(3) });
}

test("a run of two steps is one response", async () => {
  const stream = toResponsesStream(run(async () => "sunny", CALLING, ANSWERING));
  const events = await eventsOf(stream);
  const { output, usage } = await stream.finalResponse();

  assert.deepEqual(
    output.map((item) => item.type),
    ["function_call", "function_call_output", "message"],
  );
  assert.equal(ofType(events, "response.output_item.added").length, 3);
  assert.equal(usage.total_tokens, 16);
});

test("a failed tool is an output with the error", async () => {
  const failing = async () => {
    throw new Error("No such city.");
  };
  const { output } = await toResponsesStream(run(failing, CALLING, ANSWERING)).finalResponse();
  assert.match(output[1].output, /No such city\./);
});

test("a call without a tool is an open message", async () => {
  const { content, stop_reason } = await toAnthropicStream(run(undefined, CALLING)).finalResponse();
  assert.deepEqual(content, [
    { type: "tool_use", id: "call_1", name: "look", input: { city: "Paris" } },
  ]);
  assert.equal(stop_reason, "tool_use");
});
