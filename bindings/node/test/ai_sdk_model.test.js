// Prompts for a model without the SDK's functions, as some agents use it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { createOpenResponses } from "@ai-sdk/open-responses";
import * as ai from "ai";
import { stateful } from "antiphon/ai-sdk";

import { FACT, MODEL, RECALL, VERSIONS } from "./ai_sdk.js";
import { startProvider } from "./provider.js";

const MODELS = Object.fromEntries([
  ...Object.entries(VERSIONS).map(([version, { createOpenAI, wrapLanguageModel }]) => [
    version,
    { profile: "openai", wrapLanguageModel, modelAt: () => createOpenAI().responses(MODEL) },
  ]),
  ["open-responses", { profile: "open-responses", ...ai, modelAt: openResponses }],
]);

for (const [name, { profile, modelAt, wrapLanguageModel }] of Object.entries(MODELS)) {
  suite(name, () => {
    test("an unanswered call is rejected", async (t) => {
      const provider = await startProvider(t, { profile });
      await assert.rejects(modelAt(provider).doGenerate({ prompt: unanswered() }));
      assert.deepEqual(await provider.refusals(), [
        "No tool output found for function call call_1.",
      ]);
    });

    test("with the middleware it gets a placeholder", async (t) => {
      const provider = await startProvider(t, { profile });
      const reports = [];
      const middleware = stateful({ onReport: (report) => reports.push(report) });
      const model = wrapLanguageModel({ model: modelAt(provider), middleware });

      const { content, warnings } = await model.doGenerate({ prompt: unanswered() });

      assert.match(content.findLast(({ type }) => type === "text").text, /purple/);
      assert.deepEqual(await provider.refusals(), []);
      const [{ mends }] = reports;
      assert.deepEqual(mends.map(({ fault, action }) => [fault, action]), [
        ["unanswered_call", "answered"],
      ]);
      assert.match(warnings.at(-1).message, /No tool output found for function call call_1/);
    });

    test("a stream is pulled and cancelled by its reader", async (t) => {
      const provider = await startProvider(t, { profile });
      const middleware = stateful();
      const model = wrapLanguageModel({ model: modelAt(provider), middleware });
      await provider.hold("in_text");
      const { stream } = await model.doStream({ prompt: [user(FACT)] });
      const reader = stream.getReader();
      while ((await reader.read()).value.type !== "text-delta");
      await reader.cancel();
      assert.deepEqual(await reader.read(), { done: true, value: undefined });
    });
  });
}

function openResponses(provider) {
  const url = `${provider.url}/responses`;
  return createOpenResponses({ name: "strict", url, apiKey: provider.key })(MODEL);
}

function unanswered() {
  const call = { type: "tool-call", toolCallId: "call_1", toolName: "echo", input: { text: "hi" } };
  return [user(FACT), { role: "assistant", content: [call] }, user(RECALL)];
}

function user(text) {
  return { role: "user", content: [{ type: "text", text }] };
}
