// Chat completions: the openai library with a tool loop, and the AI SDK with its OpenAI-compatible
// provider. Each resends its whole history with every request.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import OpenAI from "openai";

import { Tenant, assertConversationHolds, assertEachItemOnce } from "./context.js";
import { cases } from "./delivery.js";
import { SCENES, holdDialogue, newEcho } from "./dialogue.js";

const SHORT = process.env.ANTIPHON_CLIENTS === "short";
const TIMEOUT = 20_000;

const ECHO_TOOL = {
  type: "function",
  function: {
    name: "echo",
    description: "Says the text again.",
    parameters: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    },
  },
};

/** The ways to get a completion: whole, as a stream, and by the stream helper. */
const DELIVERIES = {
  create: (client, params) => client.chat.completions.create(params),
  stream: async (client, params) =>
    accumulated(await client.chat.completions.create({ ...params, stream: true })),
  stream_helper: (client, params) => client.chat.completions.stream(params).finalChatCompletion(),
};

// Of a field that it does not know, the stream helper keeps the last delta alone. It returns such a
// piece of `reasoning_content`, which the stored reasoning does not equal.
const CUTS_REASONING = process.env.UPSTREAM_API === "chat" ? ["stream_helper"] : [];

for (const isAttached of [false, true]) {
  suite(isAttached ? "three turns in a conversation" : "three turns by replay", () => {
    for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
      if (isAttached && CUTS_REASONING.includes(delivery)) continue;
      for (const [name, scene] of Object.entries(SCENES)) {
        if (SHORT && name !== "one_call" && delivery === "create") continue;
        test(`${delivery} ${name}`, () => threeTurns(deliver, scene, isAttached));
      }
    }
  });
}

// The provider of the AI SDK returns the text of reasoning, but not its sealed form.
suite("three turns with the AI SDK", () => {
  for (const { title, deliver, scene } of cases()) {
    test(title, () => withAiSdk(deliver, scene));
  }
});

async function threeTurns(deliver, scene, isAttached) {
  const tenant = new Tenant();
  const echo = newEcho();
  const conversation = isAttached && (await tenant.newConversation());
  const client = new OpenAI({
    ...{ baseURL: tenant.baseURL, apiKey: tenant.apiKey, timeout: TIMEOUT, maxRetries: 0 },
    ...(conversation && { defaultHeaders: { "antiphon-conversation": conversation } }),
  });
  const messages = [];

  const turn = async () => {
    const params = { model: scene.model, messages, tools: [ECHO_TOOL] };
    const { message } = (await deliver(client, params)).choices[0];
    const { parsed, ...kept } = message;
    messages.push(kept);
    return kept;
  };
  const ask = async (content) => {
    messages.push({ role: "user", content });
    for (let calls; (calls = (await turn()).tool_calls)?.length; ) {
      for (const call of calls) {
        delete call.function.parsed_arguments;
        const output = await echo.tools.echo.execute(JSON.parse(call.function.arguments));
        messages.push({ role: "tool", tool_call_id: call.id, content: output });
      }
    }
    return messages.at(-1).content;
  };

  const dialogue = await holdDialogue(scene, ask, echo);

  if (scene.model === "sim") return;
  await assertEachItemOnce(tenant, dialogue);
  if (conversation) await assertConversationHolds(tenant, conversation, dialogue);
}

/** The completion that a stream adds up to. */
async function accumulated(stream) {
  const message = { role: "assistant", content: "" };
  let finishReason;
  for await (const { choices } of stream) {
    if (!choices.length) continue;
    const [{ delta, finish_reason }] = choices;
    finishReason = finish_reason ?? finishReason;
    for (const field of ["content", "reasoning_content"]) {
      if (delta[field]) message[field] = (message[field] ?? "") + delta[field];
    }
    if (delta.reasoning_details) {
      message.reasoning_details = [...(message.reasoning_details ?? []), ...delta.reasoning_details];
    }
    for (const { index, ...fragment } of delta.tool_calls ?? []) {
      message.tool_calls ??= [];
      const call = message.tool_calls[index];
      if (call) call.function.arguments += fragment.function?.arguments ?? "";
      else message.tool_calls[index] = fragment;
    }
  }
  assert.ok(finishReason, "the stream has no finish_reason");
  return { choices: [{ message }] };
}

async function withAiSdk(deliver, scene) {
  const tenant = new Tenant();
  const echo = newEcho();
  const { baseURL, apiKey } = tenant;
  const provider = createOpenAICompatible({ name: "antiphon", baseURL, apiKey });
  const messages = [];

  const ask = async (content) => {
    messages.push({ role: "user", content });
    const call = { model: provider(scene.model), messages, tools: echo.tools };
    const options = { providerOptions: { antiphon: { reasoningEffort: "none" } } };
    const answer = await deliver({ ...call, ...options });
    messages.push(...answer.messages);
    return answer.text;
  };

  const dialogue = await holdDialogue(scene, ask, echo);

  if (scene.model !== "sim") await assertEachItemOnce(tenant, dialogue, ["reasoning"]);
}
