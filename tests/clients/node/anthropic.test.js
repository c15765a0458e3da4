// Anthropic's library, with the tool loop that its documentation shows.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";

import { Tenant, assertConversationHolds, assertEachItemOnce } from "./context.js";
import { SCENES, holdDialogue, newEcho } from "./dialogue.js";

const SHORT = process.env.ANTIPHON_CLIENTS === "short";
const TIMEOUT = 20_000;

const ECHO_TOOL = {
  name: "echo",
  description: "Says the text again.",
  input_schema: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  },
};

/** The ways to get a message: whole, and by the stream helper. */
const DELIVERIES = {
  create: (client, params, options) => client.messages.create(params, options),
  stream: (client, params, options) => client.messages.stream(params, options).finalMessage(),
};

/** The ways to name a stored conversation: parameters and options of each request. */
const WAYS = {
  replay: () => [{}, {}],
  conversation: (id) => [{}, { headers: { "antiphon-conversation": id } }],
  conversation_in_metadata: (id) => [{ metadata: { conversation: id } }, {}],
};

for (const [way, naming] of Object.entries(WAYS)) {
  suite(`three turns by ${way}`, () => {
    for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
      for (const [name, scene] of Object.entries(SCENES)) {
        if (SHORT && name !== "one_call" && delivery === "create") continue;
        test(`${delivery} ${name}`, () => threeTurns(way, naming, deliver, scene));
      }
    }
  });
}

async function threeTurns(way, naming, deliver, scene) {
  const tenant = new Tenant();
  const conversation = way === "replay" ? undefined : await tenant.newConversation();
  const [params, options] = naming(conversation);
  const echo = newEcho();
  const request = { model: scene.model, ...params };
  const talk = newTalk(tenant, deliver, echo, request, options);

  const dialogue = await holdDialogue(scene, talk.say, echo);

  if (scene.model === "sim") return;
  await assertEachItemOnce(tenant, dialogue);
  if (conversation) await assertConversationHolds(tenant, conversation, dialogue);
}

for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
  test(`thinking goes back, by ${delivery}`, async () => {
    const tenant = new Tenant();
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const talk = newTalk(tenant, deliver, newEcho(), { model: "fake-model", thinking });
    assert.match(await talk.say("Echo hello"), /hello/);

    const [thought] = talk.received[0].content.filter(({ type }) => type === "thinking");
    assert.match(thought.thinking, /tool/);
    assert.notEqual(thought.signature, "");
    const [, second] = await tenant.modelRequests();
    const types = second.items.map(({ type, role }) => role ?? type);
    assert.deepEqual(types, ["user", "reasoning", "function_call", "function_call_output"]);
  });
}

test("events of a stream", async () => {
  const client = newClient(new Tenant());
  const messages = [{ role: "user", content: "Hello" }];
  const params = { model: "fake-model", max_tokens: 100, messages, stream: true };
  const types = [];
  for await (const { type } of await client.messages.create(params)) types.push(type);
  assert.equal(types[0], "message_start");
  assert.deepEqual(types.slice(-2), ["message_delta", "message_stop"]);
});

test("tokens, models and errors", async () => {
  const client = newClient(new Tenant());
  const messages = [{ role: "user", content: "Hello there" }];
  const { input_tokens } = await client.messages.countTokens({ model: "sim", messages });
  assert.ok(input_tokens > 3);

  const ids = [];
  for await (const { id } of client.models.list()) ids.push(id);
  assert.ok(ids.includes("sim") && ids.includes("fake-model"), `${ids}`);
  assert.equal((await client.models.retrieve("sim")).type, "model");

  const metadata = { conversation: "conv_unknown" };
  const unknown = { model: "sim", max_tokens: 100, messages, metadata };
  await assert.rejects(client.messages.create(unknown), Anthropic.NotFoundError);
});

function newClient(tenant) {
  const baseURL = new URL(tenant.baseURL).origin;
  return new Anthropic({ baseURL, apiKey: tenant.apiKey, maxRetries: 0, timeout: TIMEOUT });
}

/** A client's history, and the loop that runs the tools. */
function newTalk(tenant, deliver, echo, params, options = {}) {
  const client = newClient(tenant);
  const fixed = { max_tokens: 2048, tools: [ECHO_TOOL], ...params };
  const messages = [];
  const received = [];

  const resultOf = async ({ id, input }) => ({
    type: "tool_result",
    tool_use_id: id,
    content: await echo.tools.echo.execute(input),
  });

  const say = async (text) => {
    messages.push({ role: "user", content: text });
    for (;;) {
      const message = await deliver(client, { ...fixed, messages }, options);
      received.push(message);
      messages.push({ role: "assistant", content: message.content });
      const texts = message.content.filter(({ type }) => type === "text");
      if (message.stop_reason !== "tool_use") return texts.map(({ text }) => text).join("");
      const calls = message.content.filter(({ type }) => type === "tool_use");
      messages.push({ role: "user", content: await Promise.all(calls.map(resultOf)) });
    }
  };
  return { say, received };
}
