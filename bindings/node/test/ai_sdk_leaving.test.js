// Turns of a conversation that are left in the middle, and what becomes of the next.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { whole } from "antiphon/ai-sdk";
import OpenAI from "openai";

import { DELIVERIES, ECHO, FACT, MODEL, RECALL, VERSIONS, call, user } from "./ai_sdk.js";
import { startProvider } from "./provider.js";

/** By which event the reader of an answer knows that it is at a place. */
const IS_AT = {
  in_reasoning: ({ type }) => /^response\.reasoning.*\.delta$/.test(type),
  in_arguments: ({ type }) => type === "response.function_call_arguments.delta",
  behind_call: ({ type, item }) =>
    type === "response.output_item.done" && item.type === "function_call",
  in_text: ({ type }) => type === "response.output_text.delta",
};
const OUTCOMES = ["part", "whole", "nothing"];

for (const [version, sdk] of Object.entries(VERSIONS)) {
  suite(version, () => {
    test("without the middleware the next turn is refused", async (t) => {
      const provider = await startProvider(t);
      const left = await leftTurn(sdk, provider, bare(sdk), "behind_call");
      await assert.rejects(DELIVERIES.generateText(sdk, left.next), /No tool output found/);
    });

    for (const place of Object.keys(IS_AT)) {
      for (const onAbort of OUTCOMES) {
        test(`left ${place}, and ${onAbort} is kept: the next turn is whole`, async (t) => {
          const provider = await startProvider(t, { onAbort });
          const conversations = new OpenAI().conversations;
          const middleware = whole({ conversations });
          const model = sdk.wrapLanguageModel({ model: bare(sdk), middleware });
          const { next } = await leftTurn(sdk, provider, model, place);

          const { text } = await DELIVERIES.generateText(sdk, next);

          assert.match(text, /purple/);
          assert.deepEqual(await provider.refusals(), []);
          assert.deepEqual(await provider.twice(), []);
        });
      }
    }
  });
}

/** A fact is told, and the turn behind it is left at `place`. The next has all messages but its answer. */
async function leftTurn(sdk, provider, model, place) {
  const conversation = await provider.newConversation();
  const history = [user(FACT)];
  const told = await DELIVERIES.generateText(sdk, call(sdk, model, history, { conversation }));
  history.push(...told.messages, user(place === "in_text" ? "Hello there" : ECHO));

  await provider.hold(place);
  await leave(sdk, call(sdk, model, history, { conversation }), place);

  return { next: call(sdk, model, [...history, user(RECALL)], { conversation }) };
}

/** Reads an answer up to a place, and leaves. */
async function leave(sdk, options, place) {
  const leaving = new AbortController();
  const abortSignal = leaving.signal;
  const result = sdk.streamText({ ...options, abortSignal, includeRawChunks: true, onError() {} });
  for await (const { type, rawValue } of result.stream ?? result.fullStream) {
    if (type === "raw" && IS_AT[place](rawValue)) leaving.abort();
  }
}
