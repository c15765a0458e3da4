// The test provider: it is strict, starts empty, and logs its requests.

import assert from "node:assert/strict";
import test from "node:test";

import OpenAI from "openai";

import { startProvider } from "./provider.js";

const TIMEOUT = 10_000;

test("a default client reaches the provider", async (t) => {
  const provider = await startProvider(t);
  const conversation = await provider.newConversation();
  await ask(conversation, "My color is purple");
  assert.equal(await ask(conversation, "Which color?"), "purple");

  assert.deepEqual((await provider.turns()).map((given) => given.length), [1, 3]);
  assert.equal((await provider.items(conversation)).length, 4);
  assert.deepEqual(await provider.twice(), []);
  assert.deepEqual(await provider.refusals(), []);
});

test("rejections are logged", async (t) => {
  const provider = await startProvider(t);
  const input = [{ type: "function_call_output", call_id: "call_1", output: "hello" }];
  await assert.rejects(new OpenAI().responses.create({ model: "m", input }), /No tool call found/);

  const [refusal] = await provider.refusals();
  assert.match(refusal, /^No tool call found/);
  assert.deepEqual(await provider.turns(), []);
});

for (const [onAbort, kept] of [["whole", 2], ["nothing", 0]]) {
  test(`an abandoned turn is stored as ${onAbort}`, async (t) => {
    const provider = await startProvider(t, { onAbort });
    const conversation = await provider.newConversation();
    await provider.hold("in_text");
    const input = "My color is purple";
    const turn = { model: "plain-m", conversation, input, stream: true };
    for await (const event of await new OpenAI().responses.create(turn)) {
      if (event.type === "response.output_text.delta") break;
    }
    await askOnceItIsFree(conversation, "Which color?");

    assert.equal((await provider.turns()).at(-1).length, kept + 1);
  });
}

test("a script is followed", async (t) => {
  await startProvider(t, { script: [{ answer: [{ message: "It is done." }] }] });
  const response = await new OpenAI().responses.create({ model: "m", input: "Do it" });
  assert.equal(response.output_text, "It is done.");
});

/** Sends a turn after an abandoned one, which the provider may not have noticed yet. */
async function askOnceItIsFree(conversation, input) {
  const until = Date.now() + TIMEOUT;
  while (true) {
    try {
      return await ask(conversation, input);
    } catch (refusal) {
      if (!refusal.message.includes("Another process") || Date.now() > until) throw refusal;
    }
  }
}

async function ask(conversation, input) {
  const response = await new OpenAI().responses.create({ model: "m", conversation, input });
  return response.output_text;
}
