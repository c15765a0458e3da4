// Outputs that are posted to a conversation without a model turn.

import assert from "node:assert/strict";
import test from "node:test";

import { deliver, statefulFetch } from "antiphon";
import OpenAI from "openai";

import { startProvider } from "./provider.js";

const CALL = { type: "function_call", call_id: "call_1", name: "echo", arguments: "{}" };
const HELD = [{ type: "message", role: "user", content: "Echo hello" }, CALL];
const OUTPUT = { type: "function_call_output", call_id: "call_1", output: "hello" };
const UNKNOWN = { ...OUTPUT, call_id: "call_2" };

const CLIENTS = {
  "a client with statefulFetch": () => new OpenAI({ fetch: statefulFetch() }),
  "a client without it": () => new OpenAI(),
};

for (const [name, newClient] of Object.entries(CLIENTS)) {
  test(`${name} posts the output of an open call once`, async (t) => {
    const provider = await startProvider(t);
    const conversation = await provider.newConversation(HELD);
    const client = newClient();
    assert.equal(await deliver(client, conversation, [OUTPUT, UNKNOWN]), 1);
    assert.equal(await deliver(client, conversation, [OUTPUT]), 0);
    const items = await provider.items(conversation);
    assert.deepEqual(items.map(({ type }) => type), ["message", CALL.type, OUTPUT.type]);
    assert.deepEqual(await provider.refusals(), []);
  });
}

test("an unknown conversation is the client's error", async (t) => {
  await startProvider(t);
  await assert.rejects(deliver(new OpenAI(), "conv_unknown", [OUTPUT]), { status: 404 });
});

test("items must be an array", async () => {
  await assert.rejects(deliver(new OpenAI({ apiKey: "any" }), "conv_1", OUTPUT), TypeError);
});
