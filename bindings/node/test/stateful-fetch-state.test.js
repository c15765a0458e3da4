// `statefulFetch` with a strict provider that stores the state, compared with the plain fetch.

import assert from "node:assert/strict";
import test from "node:test";

import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";
import OpenAI from "openai";

import { statefulFetch } from "antiphon";

import { startProvider } from "./provider.js";

const ECHO = { type: "function", name: "echo", parameters: { type: "object" }, strict: false };
const user = (content) => ({ role: "user", content });

/** Sends two turns in a conversation, the second one with the full history. */
async function sendHistoryAgain(client, conversation) {
  const history = [user("My color is purple")];
  const first = await client.responses.create({ model: "m", conversation, input: history });
  history.push(...first.output, user("What is my color?"));
  const second = client.responses.create({ model: "m", conversation, input: history });
  return (await second.withResponse()) ?? {};
}

test("without it, a resent history is rejected", async (t) => {
  const provider = await startProvider(t);
  const conversation = await provider.newConversation();
  await assert.rejects(sendHistoryAgain(new OpenAI(), conversation), /Duplicate item/);
});

test("a resent history is stored once", async (t) => {
  const provider = await startProvider(t);
  const conversation = await provider.newConversation();
  const reports = [];
  const client = new OpenAI({ fetch: statefulFetch({ onReport: (report) => reports.push(report) }) });
  const { data, response } = await sendHistoryAgain(client, conversation);

  assert.equal(data.output_text, "purple");
  assert.deepEqual(await provider.twice(), []);
  assert.deepEqual(await provider.refusals(), []);
  assert.ok(Number(response.headers.get("antiphon-resent")) > 1);
  assert.equal(reports.at(-1).resent, Number(response.headers.get("antiphon-resent")));
});

test("a chain stores a resent history once", async (t) => {
  const provider = await startProvider(t);
  const client = new OpenAI({ fetch: statefulFetch() });
  const history = [user("My color is purple")];
  const first = await client.responses.create({ model: "m", input: history });
  history.push(...first.output, user("What is my color?"));
  const chain = { model: "m", previous_response_id: first.id, input: history };
  assert.equal((await client.responses.create(chain)).output_text, "purple");
  assert.deepEqual(await provider.twice(), []);
});

/** Abandons a turn after its call, which stays without an output. */
async function leaveBehindCall(client, conversation, provider) {
  await provider.hold("behind_call");
  const turn = { model: "m", conversation, input: "Echo hello", tools: [ECHO], stream: true };
  for await (const event of await client.responses.create(turn)) {
    if (event.type === "response.output_item.done" && event.item.type === "function_call") break;
  }
}

test("without it, an abandoned turn blocks its conversation", async (t) => {
  const provider = await startProvider(t, { onAbort: "part" });
  const conversation = await provider.newConversation();
  const client = new OpenAI({ maxRetries: 0 });
  await leaveBehindCall(client, conversation, provider);
  const next = client.responses.create({ model: "m", conversation, input: "Are you there?" });
  await assert.rejects(next, /No tool output found/);
});

for (const onAbort of ["part", "whole", "nothing"]) {
  test(`a conversation continues after an abandoned turn stored as ${onAbort}`, async (t) => {
    const provider = await startProvider(t, { onAbort });
    const conversation = await provider.newConversation();
    const client = new OpenAI({ maxRetries: 0, fetch: statefulFetch({ onReport: () => {} }) });
    await leaveBehindCall(client, conversation, provider);
    const next = { model: "m", conversation, input: "My color is purple" };
    assert.equal((await client.responses.create(next)).status, "completed");
    assert.deepEqual(await provider.twice(), []);
  });
}

test("repairs are process warnings", async (t) => {
  const provider = await startProvider(t, { onAbort: "part" });
  const conversation = await provider.newConversation();
  const client = new OpenAI({ maxRetries: 0, fetch: statefulFetch() });
  await leaveBehindCall(client, conversation, provider);
  const warned = new Promise((resolve) => process.once("warning", resolve));
  const next = { model: "m", conversation, input: "My color is purple" };
  const { response } = await client.responses.create(next).withResponse();

  assert.match(response.headers.get("antiphon-repairs"), /^unanswered_call=1$/);
  const warning = await warned;
  assert.equal(warning.code, "ANTIPHON_MENDED");
  assert.match(warning.message, /unanswered_call/);
});

test("items that another request added are listed", async (t) => {
  const provider = await startProvider(t);
  const conversation = await provider.newConversation();
  const client = new OpenAI({ fetch: statefulFetch() });
  await client.responses.create({ model: "m", conversation, input: "My color is purple" });
  const dog = { type: "message", ...user("My dog is Biscuit") };
  await client.conversations.items.create(conversation, { items: [dog] });
  const held = await provider.items(conversation);
  const input = [...held, user("What is my color and dog name?")];
  const answer = await client.responses.create({ model: "m", conversation, input });

  assert.equal(answer.output_text, "purple, Biscuit");
  assert.deepEqual(await provider.twice(), []);
});

test("keys do not share state", async (t) => {
  const provider = await startProvider(t);
  const fetch = statefulFetch();
  const [mine, theirs] = ["sk-mine", "sk-theirs"].map((apiKey) => new OpenAI({ apiKey, fetch }));
  const input = "My color is purple";
  const first = await mine.responses.create({ model: "m", input });
  const chain = { model: "m", previous_response_id: first.id, input: "What is my color?" };
  await assert.rejects(theirs.responses.create(chain), /not found/);
  assert.equal((await mine.responses.create(chain)).output_text, "purple");
});

test("an irreparable rejection passes unchanged", async (t) => {
  await startProvider(t);
  const client = new OpenAI({ fetch: statefulFetch() });
  const turn = { model: "unknown-m", input: "hi" };
  await assert.rejects(client.responses.create(turn), { status: 400, code: "model_not_found" });
});

/** Two turns of the AI SDK in a conversation, the second one with the full history. */
async function talk(openai, conversation) {
  const model = openai.responses("m");
  const providerOptions = { openai: { conversation } };
  const messages = [user("My color is purple")];
  const first = await generateText({ model, messages, providerOptions, maxRetries: 0 });
  messages.push(...first.responseMessages ?? first.response.messages, user("What is my color?"));
  return generateText({ model, messages, providerOptions, maxRetries: 0 });
}

test("without it, the AI SDK's history is stored twice", async (t) => {
  const provider = await startProvider(t);
  await talk(createOpenAI(), await provider.newConversation());
  assert.deepEqual(await provider.twice(), ["user: My color is purple"]);
});

test("the AI SDK's history is stored once", async (t) => {
  const provider = await startProvider(t);
  const conversation = await provider.newConversation();
  const { text } = await talk(createOpenAI({ fetch: statefulFetch() }), conversation);

  assert.equal(text, "purple");
  assert.deepEqual(await provider.twice(), []);
  assert.deepEqual(await provider.refusals(), []);
});
