// Every method that the openai library has for responses and conversations.
//
// A test for each method; the last test asks the library which there are, so that one that a newer
// library brings is missed here and not by its users.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { ResponsesWS } from "openai/resources/responses/ws";
import { z } from "zod";

import { Tenant } from "./context.js";
import { FACT, RECALL, assertRecalled } from "./leaving.js";

const MODEL = "fake-model";
const TIMEOUT = 20_000;

/** The test of each method, which is given a client and its tenant. */
const TESTS = {
  "responses.create": async (client) => {
    const metadata = { of: "a test" };
    const first = await fact(client, { metadata, instructions: "Be brief." });
    assert.deepEqual([first.status, first.metadata], ["completed", metadata]);
    const ask = { model: MODEL, input: RECALL, previous_response_id: first.id };
    const events = await all(await client.responses.create({ ...ask, stream: true }));
    assertNumbered(events);
    assert.equal(events[0].type, "response.created");
    assert.equal(events.at(-1).type, "response.completed");
    assertRecalled(textOf(events.at(-1).response));

    const { data, response } = await client.responses.create(ask).withResponse();
    assert.equal(response.status, 200);
    assertRecalled(data.output_text);
    const raw = await client.responses.create(ask).asResponse();
    assert.equal((await raw.json()).object, "response");
  },

  "responses.stream": async (client) => {
    const first = await fact(client);
    const helper = client.responses.stream({
      model: MODEL,
      input: RECALL,
      previous_response_id: first.id,
    });
    assertNumbered(await all(helper));
    assertRecalled((await helper.finalResponse()).output_text);

    const running = await fact(client, { background: true });
    const again = client.responses.stream({ response_id: running.id });
    assert.equal((await again.finalResponse()).id, running.id);
  },

  "responses.parse": async (client) => {
    const place = z.object({ name: z.string(), kind: z.enum(["city", "river"]) });
    const text = { format: zodTextFormat(place, "place") };
    const input = "Say something of Bonn.";
    const parsed = await client.responses.parse({ model: "sim", input, text });
    assert.ok(place.safeParse(parsed.output_parsed).success, parsed.output_text);
  },

  "responses.retrieve": async (client) => {
    const first = await fact(client, { background: true });
    const events = await all(await client.responses.retrieve(first.id, { stream: true }));
    assertNumbered(events);
    assert.equal(events.at(-1).type, "response.completed");
    const behind = { stream: true, starting_after: 1 };
    assert.deepEqual(await all(await client.responses.retrieve(first.id, behind)), events.slice(2));
    const kept = await client.responses.retrieve(first.id);
    assert.equal(kept.output_text, textOf(events.at(-1).response));
    const include = ["reasoning.encrypted_content"];
    const shown = await client.responses.retrieve(first.id, { include });
    assert.deepEqual(idsOf(shown.output), idsOf(kept.output));
  },

  "responses.delete": async (client) => {
    const first = await fact(client);
    await client.responses.delete(first.id);
    await assert.rejects(client.responses.retrieve(first.id), OpenAI.NotFoundError);
  },

  "responses.cancel": async (client, tenant) => {
    await tenant.stopNextAnswer("in_text");
    const running = await fact(client, { background: true });
    assert.ok(["queued", "in_progress"].includes(running.status), running.status);
    assert.equal((await client.responses.cancel(running.id)).status, "cancelled");
    assert.equal((await client.responses.retrieve(running.id)).status, "cancelled");
    assert.equal((await client.responses.cancel(running.id)).status, "cancelled");
  },

  "responses.compact": async (client) => {
    const first = await fact(client);
    const ask = { model: MODEL, previous_response_id: first.id };
    const compacted = await client.responses.compact(ask);
    assert.equal(compacted.object, "response.compaction");
    assert.equal(typeof compacted.usage.total_tokens, "number");
    assert.equal(compacted.output.at(-1).type, "compaction");
    const input = [...compacted.output, user(RECALL)];
    assertRecalled((await client.responses.create({ model: MODEL, input })).output_text);
  },

  "responses.inputItems.list": async (client) => {
    const said = ["one", "two", "three"];
    const turn = await client.responses.create({ model: MODEL, input: said.map(user) });
    await assertListed(said, (query) => client.responses.inputItems.list(turn.id, query));
  },

  "responses.inputTokens.count": async (client) => {
    const counted = async (params) => {
      const count = await client.responses.inputTokens.count(params);
      assert.equal(count.object, "response.input_tokens");
      assert.ok(Number.isInteger(count.input_tokens) && count.input_tokens > 0);
      return count.input_tokens;
    };
    const ask = { model: MODEL, input: RECALL };
    const alone = await counted(ask);
    const first = await fact(client);
    assert.ok((await counted({ ...ask, previous_response_id: first.id })) > alone);
    assert.ok((await counted({ ...ask, instructions: "Be brief." })) > alone);
    assert.ok((await counted({ input: RECALL })) > 0);
  },

  "conversations.create": async (client) => {
    const conversation = await newConversation(client, FACT);
    assert.deepEqual(conversation.metadata, { of: "a test" });
    const ask = { model: MODEL, input: RECALL, conversation: conversation.id };
    const turn = await client.responses.create(ask);
    assertRecalled(turn.output_text);
    assert.equal(turn.conversation.id, conversation.id);
  },

  "conversations.retrieve": async (client) => {
    const conversation = await newConversation(client);
    assert.deepEqual(await client.conversations.retrieve(conversation.id), conversation);
  },

  "conversations.update": async (client) => {
    const { id } = await newConversation(client);
    const metadata = { topic: "dogs" };
    assert.deepEqual((await client.conversations.update(id, { metadata })).metadata, metadata);
    assert.deepEqual((await client.conversations.retrieve(id)).metadata, metadata);
  },

  "conversations.delete": async (client) => {
    const { id } = await newConversation(client);
    const gone = await client.conversations.delete(id);
    assert.deepEqual(gone, { id, object: "conversation.deleted", deleted: true });
    await assert.rejects(client.conversations.retrieve(id), OpenAI.NotFoundError);
  },

  "conversations.items.create": async (client) => {
    const { id } = await newConversation(client);
    const call = { type: "function_call", call_id: "call_1", name: "echo", arguments: "{}" };
    const output = { type: "function_call_output", call_id: "call_1", output: "hello" };
    const added = await client.conversations.items.create(id, { items: [user(FACT), call, output] });
    assert.equal(added.object, "list");
    const kinds = ["message", "function_call", "function_call_output"];
    assert.deepEqual(added.data.map(({ type }) => type), kinds);
    assert.ok(idsOf(added.data).every((itemId) => typeof itemId === "string"));
  },

  "conversations.items.list": async (client) => {
    const said = ["one", "two", "three"];
    const { id } = await newConversation(client, ...said);
    await assertListed(said, (query) => client.conversations.items.list(id, query));
  },

  "conversations.items.retrieve": async (client) => {
    const { id } = await newConversation(client, FACT);
    const [held] = (await client.conversations.items.list(id)).data;
    const item = await client.conversations.items.retrieve(held.id, { conversation_id: id });
    assert.deepEqual(item, held);
  },

  "conversations.items.delete": async (client) => {
    const { id } = await newConversation(client, FACT, "And my city is Bonn");
    const where = { conversation_id: id };
    const [newest, oldest] = (await client.conversations.items.list(id)).data;
    assert.equal((await client.conversations.items.delete(oldest.id, where)).id, id);
    const gone = client.conversations.items.retrieve(oldest.id, where);
    await assert.rejects(gone, OpenAI.NotFoundError);
    const left = (await client.conversations.items.list(id)).data;
    assert.deepEqual(idsOf(left), [newest.id]);
  },
};

suite("every method", () => {
  for (const [name, run] of Object.entries(TESTS)) {
    test(name, () => {
      const tenant = new Tenant();
      return run(newClient(tenant), tenant);
    });
  }

  test("turns over a WebSocket", async () => {
    const socket = new ResponsesWS(newClient(new Tenant()));
    try {
      const first = await turnOver(socket, { input: FACT });
      const second = await turnOver(socket, { input: RECALL, previous_response_id: first.id });
      assertRecalled(textOf(second));
    } finally {
      socket.close();
    }
  });

  test("none of the library's is missed", () => {
    const client = newClient(new Tenant());
    const names = ["responses", "conversations"].flatMap((name) => methodsOf(client[name], name));
    assert.deepEqual(names.sort(), Object.keys(TESTS).sort());
  });
});

/** The names of the methods of a resource and of those within it. */
function methodsOf(resource, path) {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(resource));
  const methods = names.filter((name) => name !== "constructor" && !name.startsWith("_"));
  const inner = Object.entries(resource).filter(([name]) => !name.startsWith("_"));
  return [
    ...methods.map((name) => `${path}.${name}`),
    ...inner.flatMap(([name, value]) => methodsOf(value, `${path}.${name}`)),
  ];
}

/** Asks over the socket, and gives the response that comes. */
function turnOver(socket, params) {
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("response.failed", reject);
    socket.once("response.completed", ({ response }) => resolve(response));
    socket.send({ type: "response.create", model: MODEL, ...params });
  });
}

/** What was said is listed in both orders, on pages, and from behind an item on. */
async function assertListed(said, list) {
  const page = await list({ order: "asc", limit: 2 });
  assert.deepEqual(page.data.map(contentOf), said.slice(0, 2));
  assert.ok(page.hasNextPage());
  const everything = await all(list({ order: "asc", limit: 2 }));
  assert.deepEqual(everything.map(contentOf), said);
  assert.deepEqual((await all(list({}))).map(contentOf), said.toReversed());
  const rest = await list({ order: "asc", after: everything[1].id });
  assert.deepEqual(rest.data.map(contentOf), said.slice(2));
}

function newClient({ baseURL, apiKey }) {
  return new OpenAI({ baseURL, apiKey, timeout: TIMEOUT, maxRetries: 0 });
}

function newConversation(client, ...said) {
  return client.conversations.create({ items: said.map(user), metadata: { of: "a test" } });
}

function fact(client, params = {}) {
  return client.responses.create({ model: MODEL, input: FACT, ...params });
}

function user(content) {
  return { type: "message", role: "user", content };
}

async function all(several) {
  const found = [];
  for await (const one of several) found.push(one);
  return found;
}

function assertNumbered(events) {
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, number) => number),
  );
}

function idsOf(items) {
  return items.map(({ id }) => id);
}

function contentOf({ content }) {
  return content.map(({ text }) => text).join("");
}

function textOf({ output }) {
  return output.flatMap((item) => (item.type === "message" ? [contentOf(item)] : [])).join("");
}
