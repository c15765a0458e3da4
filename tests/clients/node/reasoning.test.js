// Reasoning that a program can show, and that the model gets back with the output of its call.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { generateText, streamText } from "ai";
import { z } from "zod";

import { isStepCount, partsOf } from "./ai_versions.js";
import { Tenant } from "./context.js";
import { newEcho } from "./dialogue.js";
import { DELIVERIES, newModel } from "./langchain_model.js";

const ECHO = "Echo hello";
const TIMEOUT = 20_000;

/** Each takes the parameters of a call, and returns the reasoning that the AI SDK shows. */
const AI_SDK = {
  generateText: async (call) => (await generateText(call)).steps[0].reasoningText,
  streamText: async (call) => {
    let shown = "";
    for await (const part of partsOf(streamText({ ...call, onError: () => {} }))) {
      if (part.type === "error") throw part.error;
      if (part.type === "reasoning-delta") shown += part.text;
    }
    return shown;
  },
};

suite("the AI SDK shows reasoning", () => {
  for (const [name, deliver] of Object.entries(AI_SDK)) {
    test(name, () => isShownAndReturned((tenant) => deliver(call(tenant))));
  }
});

suite("LangChain.js shows reasoning", () => {
  for (const [name, deliver] of Object.entries(DELIVERIES)) {
    test(name, () => isShownAndReturned((tenant) => askTwice(tenant, deliver)));
  }
});

/** `ask` runs a turn with a tool call, and returns the reasoning that the client shows. */
async function isShownAndReturned(ask) {
  const tenant = new Tenant();

  const shown = await ask(tenant);

  assert.ok(shown, "no reasoning is shown");
  const { items } = (await tenant.modelRequests()).at(-1);
  const reasoning = items.filter(({ type }) => type === "reasoning");
  assert.deepEqual(reasoning.map(textOf), [shown]);
}

function call(tenant) {
  const provider = createOpenAI({ baseURL: tenant.baseURL, apiKey: tenant.apiKey });
  const options = { store: false, reasoningEffort: "low", reasoningSummary: "auto" };
  return {
    model: provider.responses("fake-model"),
    messages: [{ role: "user", content: ECHO }],
    tools: newEcho().tools,
    maxRetries: 0,
    stopWhen: isStepCount(2),
    abortSignal: AbortSignal.timeout(TIMEOUT),
    providerOptions: { openai: { ...options, forceReasoning: true } },
  };
}

/** Asks for the call, and again with its output. */
async function askTwice(tenant, deliver) {
  const conversation = await tenant.newConversation();
  const state = { conversation, reasoning: { effort: "low", summary: "auto" } };
  const schema = z.object({ text: z.string() });
  const echo = tool(({ text }) => text, { name: "echo", description: "Says it again.", schema });
  const model = newModel(tenant, "fake-model", state).bindTools([echo]);

  const called = await deliver(model, [new HumanMessage(ECHO)]);
  const outputs = await Promise.all(called.tool_calls.map((call) => echo.invoke(call)));
  await deliver(model, outputs);

  const { summary } = called.additional_kwargs.reasoning;
  return summary.map(({ text }) => text).join("");
}

/** The text of a reasoning item, in either of its fields. */
function textOf({ summary = [], content = [] }) {
  return [...summary, ...content].map(({ text }) => text).join("");
}
