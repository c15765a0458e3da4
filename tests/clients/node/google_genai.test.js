// Google's library, with the tool loop that its documentation shows.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ApiError, GoogleGenAI } from "@google/genai";

import { Tenant, assertConversationHolds, assertEachItemOnce } from "./context.js";
import { SCENES, holdDialogue, newEcho } from "./dialogue.js";

const SHORT = process.env.ANTIPHON_CLIENTS === "short";
const TIMEOUT = 20_000;

const ECHO_TOOL = {
  name: "echo",
  description: "Says the text again.",
  parameters: {
    type: "OBJECT",
    properties: { text: { type: "STRING" } },
    required: ["text"],
  },
};

/** The ways to get an answer: whole, or in chunks. */
const DELIVERIES = {
  generate: async (client, request) => [await client.models.generateContent(request)],
  stream: async (client, request) => {
    return Array.fromAsync(await client.models.generateContentStream(request));
  },
};

for (const way of ["replay", "conversation"]) {
  suite(`three turns by ${way}`, () => {
    for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
      for (const [name, scene] of Object.entries(SCENES)) {
        if (SHORT && name !== "one_call" && delivery === "generate") continue;
        test(`${delivery} ${name}`, () => threeTurns(way, deliver, scene));
      }
    }
  });
}

async function threeTurns(way, deliver, scene) {
  const tenant = new Tenant();
  const conversation = way === "replay" ? undefined : await tenant.newConversation();
  const headers = conversation ? { "antiphon-conversation": conversation } : {};
  const echo = newEcho();
  const talk = newTalk(newClient(tenant, headers), deliver, echo, scene.model);

  const dialogue = await holdDialogue(scene, talk.say, echo);

  if (scene.model === "sim") return;
  await assertEachItemOnce(tenant, dialogue);
  if (conversation) await assertConversationHolds(tenant, conversation, dialogue);
}

for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
  test(`thoughts go back, by ${delivery}`, async () => {
    const tenant = new Tenant();
    const thinkingConfig = { thinkingLevel: "LOW", includeThoughts: true };
    const client = newClient(tenant);
    const talk = newTalk(client, deliver, newEcho(), "fake-model", { thinkingConfig });
    assert.match(await talk.say("Echo hello"), /hello/);

    const parts = talk.received[0].flatMap(({ candidates }) => candidates[0].content.parts);
    const thoughts = parts.filter(({ thought }) => thought).map(({ text }) => text);
    assert.match(thoughts.join(""), /tool/);
    assert.ok(parts.find(({ functionCall }) => functionCall).thoughtSignature);
    const [, second] = await tenant.modelRequests();
    const types = second.items.map(({ type, role }) => role ?? type);
    assert.deepEqual(types, ["user", "reasoning", "function_call", "function_call_output"]);
  });
}

test("a chat of the library keeps its history", async () => {
  const tenant = new Tenant();
  const chat = newClient(tenant).chats.create({ model: "fake-model" });
  await chat.sendMessage({ message: "My color is purple" });
  const chunks = await chat.sendMessageStream({ message: "My dog is Biscuit" });
  for await (const chunk of chunks) assert.ok(chunk.responseId);
  const { text } = await chat.sendMessage({ message: "What is my color and dog name?" });
  assert.match(text, /purple/);
  assert.match(text, /Biscuit/);
  const requests = await tenant.modelRequests();
  assert.deepEqual(requests.map(({ items }) => items.length), [1, 3, 5]);
});

test("JSON by a schema", async () => {
  const responseSchema = { type: "OBJECT", properties: { size: { type: "INTEGER" } } };
  const config = { responseMimeType: "application/json", responseSchema };
  const client = newClient(new Tenant());
  const { text } = await client.models.generateContent({ model: "sim", contents: "Go", config });
  assert.ok(Number.isInteger(JSON.parse(text).size), text);
});

test("tokens, models and errors", async () => {
  const client = newClient(new Tenant());
  const contents = "Hello there";
  const { totalTokens } = await client.models.countTokens({ model: "sim", contents });
  assert.ok(totalTokens > 3);

  const names = [];
  for await (const { name } of await client.models.list()) names.push(name);
  assert.ok(names.includes("models/sim") && names.includes("models/fake-model"), `${names}`);
  assert.equal((await client.models.get({ model: "sim" })).displayName, "sim");

  const named = newClient(new Tenant(), { "antiphon-conversation": "conv_unknown" });
  const request = { model: "sim", contents };
  const isRejection = (status) => (error) => error instanceof ApiError && error.status === status;
  await assert.rejects(named.models.generateContent(request), isRejection(404));
  const config = { responseModalities: ["IMAGE"] };
  await assert.rejects(client.models.generateContent({ ...request, config }), isRejection(400));
});

function newClient(tenant, headers = {}) {
  const baseUrl = new URL(tenant.baseURL).origin;
  const httpOptions = { baseUrl, headers, timeout: TIMEOUT };
  return new GoogleGenAI({ apiKey: tenant.apiKey, vertexai: false, httpOptions });
}

/** A client's history, and the loop that runs the tools. */
function newTalk(client, deliver, echo, model, more = {}) {
  const config = { tools: [{ functionDeclarations: [ECHO_TOOL] }], ...more };
  const contents = [];
  const received = [];

  const responseTo = async ({ id, name, args }) => ({
    functionResponse: { id, name, response: { output: await echo.tools.echo.execute(args) } },
  });

  const say = async (text) => {
    contents.push({ role: "user", parts: [{ text }] });
    for (;;) {
      const chunks = await deliver(client, { model, contents, config });
      received.push(chunks);
      contents.push(...chunks.map(({ candidates }) => candidates[0].content));
      const calls = chunks.flatMap(({ functionCalls }) => functionCalls ?? []);
      if (calls.length === 0) return chunks.map(({ text }) => text ?? "").join("");
      contents.push({ role: "user", parts: await Promise.all(calls.map(responseTo)) });
    }
  };
  return { say, received };
}
