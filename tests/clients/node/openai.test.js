// The openai library, with the tool loop that its documentation shows.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import OpenAI from "openai";

import { Tenant, assertConversationHolds, assertEachItemOnce } from "./context.js";
import { SCENES, holdDialogue, newEcho } from "./dialogue.js";

const SHORT = process.env.ANTIPHON_CLIENTS === "short";
const TIMEOUT = 20_000;

const ECHO_TOOL = {
  type: "function",
  name: "echo",
  description: "Says the text again.",
  strict: true,
  parameters: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  },
};

/** The ways to get a response: whole, as a stream, and by the stream helper. */
const DELIVERIES = {
  create: (client, params) => client.responses.create(params),
  stream: async (client, params) =>
    completed(await client.responses.create({ ...params, stream: true })),
  stream_helper: async (client, params) => {
    const stream = client.responses.stream(params);
    const last = await completed(stream);
    const final = await stream.finalResponse();
    assert.equal(final.id, last.id);
    assert.equal(final.output_text, textOf(last));
    return final;
  },
};

/** The ways to keep a conversation: what a request carries, and what is kept of its response. */
const WAYS = {
  conversation: (tenant) => inConversation(tenant),
  previous_response_id: () => chained(),
  replay_stored: () => replayed({}),
  replay_unstored_encrypted: () =>
    replayed({ store: false, include: ["reasoning.encrypted_content"] }),
};

for (const [way, newState] of Object.entries(WAYS)) {
  suite(`three turns by ${way}`, () => {
    for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
      for (const [name, scene] of Object.entries(SCENES)) {
        if (SHORT && name !== "one_call" && delivery === "create") continue;
        test(`${delivery} ${name}`, () => threeTurns(newState, deliver, scene));
      }
    }
  });
}

async function threeTurns(newState, deliver, scene) {
  const tenant = new Tenant();
  const state = await newState(tenant);
  const echo = newEcho();
  const client = new OpenAI({
    baseURL: tenant.baseURL,
    apiKey: tenant.apiKey,
    timeout: TIMEOUT,
    maxRetries: 0,
  });
  const respond = (params) => deliver(client, { model: scene.model, tools: [ECHO_TOOL], ...params });

  const dialogue = await holdDialogue(scene, (text) => turn(respond, state, echo, text), echo);

  if (scene.model === "sim") return;
  await assertEachItemOnce(tenant, dialogue);
  if (state.conversation) await assertConversationHolds(tenant, state.conversation, dialogue);
}

/** Asks, runs the tools that are called until none is, and returns the answer. */
async function turn(respond, state, echo, text) {
  let items = [{ role: "user", content: text }];
  for (;;) {
    const response = await respond(state.params(items));
    assert.equal(response.status, "completed");
    state.accept(response);
    const calls = response.output.filter(({ type }) => type === "function_call");
    if (calls.length === 0) return textOf(response);
    items = await Promise.all(calls.map((call) => outputOf(call, echo)));
  }
}

async function outputOf({ call_id, arguments: given }, echo) {
  const output = await echo.tools.echo.execute(JSON.parse(given));
  return { type: "function_call_output", call_id, output };
}

/** The response of a stream's last event; its events count and end as they must. */
async function completed(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, number) => number),
  );
  const last = events.at(-1);
  assert.equal(last.type, "response.completed");
  const deltas = events.filter(({ type }) => type === "response.output_text.delta");
  assert.equal(deltas.map(({ delta }) => delta).join(""), textOf(last.response));
  return last.response;
}

function textOf({ output }) {
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return parts.map(({ text }) => text).join("");
}

async function inConversation(tenant) {
  const conversation = await tenant.newConversation();
  return {
    conversation,
    params: (input) => ({ conversation, input }),
    accept: (response) => assert.equal(response.conversation.id, conversation),
  };
}

function chained() {
  let last;
  return {
    params: (input) => ({ input, previous_response_id: last }),
    accept: ({ id }) => (last = id),
  };
}

function replayed(options) {
  const history = [];
  return {
    params: (items) => {
      history.push(...items);
      return { ...options, input: [...history] };
    },
    accept: ({ output }) => history.push(...output),
  };
}
