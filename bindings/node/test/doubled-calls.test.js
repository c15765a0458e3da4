// A server that streams each call twice: its tool runs once.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { statefulFetch } from "antiphon";
import { stateful } from "antiphon/ai-sdk";

import { DELIVERIES, ECHO, MODEL, VERSIONS, call, echoTool, user } from "./ai_sdk.js";
import { startProvider } from "./provider.js";

/** Models of a provider that answers through `doubling`. */
const MODELS = {
  statefulFetch: ({ createOpenAI }) =>
    createOpenAI({ fetch: statefulFetch({ fetch: doubling }) }).responses(MODEL),
  "the middleware": ({ createOpenAI, wrapLanguageModel }) =>
    wrapLanguageModel({
      model: createOpenAI({ fetch: doubling }).responses(MODEL),
      middleware: stateful(),
    }),
};

for (const [version, sdk] of Object.entries(VERSIONS)) {
  suite(version, () => {
    for (const [name, modelOf] of Object.entries(MODELS)) {
      for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
        test(`${delivery} with ${name} runs a doubled call once`, async (t) => {
          await startProvider(t);
          const inputs = [];
          const { echo } = echoTool(sdk);
          const heard = ({ text }) => (inputs.push(text), text);
          const tools = { echo: { ...echo, execute: heard } };

          await deliver(sdk, { ...call(sdk, modelOf(sdk), [user(ECHO)]), tools });

          assert.deepEqual(inputs, ["hello"]);
        });
      }
    }
  });
}

/** A `fetch` that repeats every event and item of a call with another id and index. */
async function doubling(input, init) {
  const answer = await fetch(input, init);
  const text = await answer.text();
  const headers = new Headers(answer.headers);
  headers.delete("content-length");
  const body = text.startsWith("{") ? doubledResponse(text) : doubledStream(text);
  return new Response(body, { status: answer.status, headers });
}

function doubledStream(text) {
  return text.replaceAll(/^event: .*\ndata: (.*)\n\n/gm, (frame, json) => {
    const event = JSON.parse(json);
    if (event.item?.type !== "function_call" && !event.type.includes("function_call")) return frame;
    const again = { ...event, output_index: event.output_index + 1 };
    if (event.item) again.item = doubled(event.item);
    if (event.item_id) again.item_id = doubled({ id: event.item_id }).id;
    return `${frame}event: ${event.type}\ndata: ${JSON.stringify(again)}\n\n`;
  });
}

function doubledResponse(text) {
  const response = JSON.parse(text);
  const twice = (item) => (item.type === "function_call" ? [item, doubled(item)] : [item]);
  return JSON.stringify({ ...response, output: response.output?.flatMap(twice) });
}

const doubled = (item) => ({ ...item, id: `${item.id}2` });
