// Streams of the AI SDK, converted and read by the clients of the target dialects.

import assert from "node:assert/strict";
import test from "node:test";

import { createOpenAI } from "@ai-sdk/openai";
import { simulateReadableStream, stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import OpenAI from "openai";
import { z } from "zod";

import { toAnthropicStream, toResponsesStream } from "antiphon";

import { FINISH, eventsOf, ofType, text, types } from "./parts.js";
import { startProvider } from "./provider.js";

const CALLING = [
  { type: "stream-start", warnings: [] },
  { type: "response-metadata", id: "r1", modelId: "mock-1", timestamp: new Date(0) },
  { type: "reasoning-start", id: "0" },
  { type: "reasoning-delta", id: "0", delta: "Look first." },
  { type: "reasoning-end", id: "0" },
  { type: "tool-input-start", id: "call_1", toolName: "look" },
  { type: "tool-input-delta", id: "call_1", delta: '{"city":' },
  { type: "tool-input-delta", id: "call_1", delta: '"Paris"}' },
  { type: "tool-input-end", id: "call_1" },
  { type: "tool-call", toolCallId: "call_1", toolName: "look", input: '{"city":"Paris"}' },
  { ...FINISH, finishReason: { unified: "tool-calls", raw: "tool_calls" } },
];
const ANSWERING = [{ type: "stream-start", warnings: [] }, ...text("It is ", "sunny."), FINISH];

const look = tool({ inputSchema: z.object({ city: z.string() }), execute: async () => "sunny" });

function run(...answers) {
  const doStream = answers.map((chunks) => ({ stream: simulateReadableStream({ chunks }) }));
  const model = new MockLanguageModelV4({ doStream });
  return streamText({ model, prompt: "Weather?", tools: { look }, stopWhen: stepCountIs(3) });
}

/** A client of a server that answers with this stream. */
function clientOf(stream) {
  return new OpenAI({ apiKey: "sk-1", fetch: async () => stream.toResponse() });
}

test("a run of two steps is one response to the SDK", async () => {
  const stream = toResponsesStream(run(CALLING, ANSWERING), { request: { model: "mock-1" } });
  const seen = [];
  const reading = clientOf(stream).responses.stream({ model: "mock-1", input: "Weather?" });
  for await (const event of reading) seen.push(event);
  const response = await reading.finalResponse();

  assert.deepEqual(
    response.output.map((item) => item.type),
    ["reasoning", "function_call", "function_call_output", "message"],
  );
  assert.equal(response.output_text, "It is sunny.");
  assert.equal(response.output[1].arguments, '{"city":"Paris"}');
  assert.equal(response.output[2].output, "sunny");
  assert.equal(ofType(seen, "response.output_item.added").length, 4);
  assert.deepEqual(response.usage.total_tokens, 16);
});

test("a model's own stream is a response", async () => {
  const { stream } = await new MockLanguageModelV4({
    doStream: { stream: simulateReadableStream({ chunks: CALLING }) },
  }).doStream({});
  const response = await toResponsesStream({ stream }).finalResponse();
  assert.deepEqual(response.output.map((item) => item.type), ["reasoning", "function_call"]);
  assert.equal(response.model, "mock-1");
});

test("a run that fails is a response that failed", async () => {
  const doStream = async () => {
    throw new Error("No such model.");
  };
  const model = new MockLanguageModelV4({ doStream });
  const result = streamText({ model, prompt: "hi", maxRetries: 0, onError: () => {} });
  const events = await eventsOf(toResponsesStream(result));
  assert.equal(events.at(-1).type, "response.failed");
  assert.equal(events.at(-1).response.error.message, "No such model.");
});

test("a run is a message of Anthropic's", async () => {
  const stream = toAnthropicStream(run(CALLING, ANSWERING));
  const events = await eventsOf(stream);

  assert.equal(types(events)[0], "message_start");
  assert.equal(types(events).at(-1), "message_stop");
  const open = new Set();
  for (const { type, index } of events) {
    if (type === "content_block_start") assert.ok(!open.has(index) && open.add(index));
    if (type === "content_block_delta") assert.ok(open.has(index));
    if (type === "content_block_stop") assert.ok(open.delete(index));
  }
  assert.equal(open.size, 0);
  const { content } = await stream.finalResponse();
  assert.equal(content.find((block) => block.type === "text").text, "It is sunny.");
});

test("a real provider's stream equals its client's response", async (t) => {
  await startProvider(t);
  const model = createOpenAI().responses("m");
  const tools = { echo: tool({ inputSchema: z.object({ text: z.string() }) }) };
  const result = streamText({ model, prompt: "Echo hello", tools });
  const stream = toResponsesStream(result, { request: { model: "m" } });
  const reading = clientOf(stream).responses.stream({ model: "m", input: "Echo hello" });
  const { output, status } = await reading.finalResponse();

  assert.equal(status, "completed");
  assert.deepEqual(output.map((item) => item.type), ["reasoning", "function_call"]);
  assert.deepEqual(JSON.parse(output[1].arguments), { text: "hello" });
});

test("a reader that stops ends the run", async () => {
  let cancelled = false;
  const stream = new ReadableStream({
    start: (controller) => ANSWERING.slice(0, 3).forEach((part) => controller.enqueue(part)),
    cancel: () => void (cancelled = true),
  });
  const source = await new MockLanguageModelV4({ doStream: { stream } }).doStream({});
  const response = toResponsesStream(source).toResponse();
  const reader = response.body.getReader();
  await reader.read();
  await reader.cancel();
  assert.ok(cancelled);
});

test("the signal of a request stops the model of streamText, too", async () => {
  let asked;
  const doStream = async ({ abortSignal }) => {
    asked = abortSignal;
    const start = (controller) => ANSWERING.slice(0, 3).forEach((part) => controller.enqueue(part));
    return { stream: new ReadableStream({ start }) };
  };
  const request = new AbortController();
  const { signal } = request;
  const model = new MockLanguageModelV4({ doStream });
  const result = streamText({ model, prompt: "hi", abortSignal: signal });
  let last;
  for await (const event of toResponsesStream(result, { signal })) {
    if (event.type === "response.output_text.delta") request.abort();
    last = event;
  }
  assert.equal(last.response.error.code, "aborted");
  assert.ok(asked.aborted);
});
