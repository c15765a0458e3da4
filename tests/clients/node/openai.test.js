// The openai library, with the tool loop that its documentation shows.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import OpenAI from "openai";

import {
  Tenant,
  assertConversationHolds,
  assertEachItemOnce,
  assertOnlyNewIsSent,
} from "./context.js";
import { SCENES, holdDialogue, newEcho } from "./dialogue.js";
import {
  FACT,
  MOMENTS,
  RECALL,
  assertGoneOn,
  assertRecalled,
  isToldBy,
  titleOf,
} from "./leaving.js";

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
    // Version 6 leaves `output_text` out here.
    assert.equal(final.output_text ?? textOf(final), textOf(last));
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

for (const way of SHORT ? ["conversation", "previous_response_id"] : Object.keys(WAYS)) {
  suite(`a turn that is left, by ${way}`, () => {
    for (const moment of MOMENTS) test(titleOf(moment), () => leftTurn(WAYS[way], moment));
  });
  suite(`a request that the library makes again, by ${way}`, () => {
    test("create", () => madeAgain(WAYS[way], "head", false));
    test("create that has begun", () => madeAgain(WAYS[way], "in_text", false));
    test("stream", () => madeAgain(WAYS[way], "head", true));
  });
}

async function leftTurn(newState, moment) {
  const tenant = new Tenant();
  const state = await newState(tenant);
  const client = newClient(tenant);
  const ask = { model: "fake-model", tools: [ECHO_TOOL] };
  state.accept(await client.responses.create({ ...ask, ...state.params([user(FACT)]) }));

  await tenant.stopNextAnswer(moment.place);
  const params = { ...ask, ...state.params([user(moment.said)]) };
  const heard = await leave(await client.responses.create({ ...params, stream: true }), moment);
  state.accept(heard.response);
  const outputs = moment.lateOutput ? heard.calls.map(lateOutput) : [];
  const recall = { ...ask, tool_choice: "none", ...state.params([...outputs, user(RECALL)]) };

  assertRecalled(textOf(await client.responses.create(recall)));
  await assertGoneOn(tenant, [FACT, moment.said, RECALL]);
}

/** What was heard of a stream that is left: the announced response, with the finished items. */
async function leave(stream, moment) {
  const calls = [];
  const output = [];
  let announced;
  for await (const event of stream) {
    if (event.type === "response.created") announced = event.response;
    if (event.type === "response.output_item.done") output.push(event.item);
    if (event.type === "response.output_item.added" && event.item.type === "function_call")
      calls.push(event.item.call_id);
    if (isToldBy(event, moment)) break;
  }
  return { response: { ...announced, output }, calls };
}

/** A time-out, after which the library retries by itself, doubles no turn. */
async function madeAgain(newState, place, stream) {
  const tenant = new Tenant();
  const state = await newState(tenant);
  const client = newClient(tenant).withOptions({ timeout: 1_000, maxRetries: 2 });
  const ask = { model: "fake-model" };

  await tenant.stopNextAnswer(place);
  const answer = await client.responses.create({ ...ask, ...state.params([user(FACT)]), stream });
  state.accept(stream ? await completed(answer) : answer);
  const recalled = await client.responses.create({ ...ask, ...state.params([user(RECALL)]) });

  assertRecalled(textOf(recalled));
  const requests = await tenant.modelRequests();
  assert.deepEqual(
    requests.map(({ items }) => items.filter(({ role }) => role === "user").length),
    [1, 1, 2],
  );
  await assertGoneOn(tenant, [FACT, RECALL]);
}

function user(content) {
  return { role: "user", content };
}

function lateOutput(call_id) {
  return { type: "function_call_output", call_id, output: "hello" };
}

function newClient({ baseURL, apiKey }) {
  return new OpenAI({ baseURL, apiKey, timeout: TIMEOUT, maxRetries: 0 });
}

async function threeTurns(newState, deliver, scene) {
  const tenant = new Tenant();
  const state = await newState(tenant);
  const echo = newEcho();
  const client = newClient(tenant);
  const respond = (params) => deliver(client, { model: scene.model, tools: [ECHO_TOOL], ...params });

  const dialogue = await holdDialogue(scene, (text) => turn(respond, state, echo, text), echo);

  if (scene.model === "sim") return;
  await assertEachItemOnce(tenant, dialogue);
  if (!state.conversation) return;
  await assertConversationHolds(tenant, state.conversation, dialogue);
  await assertOnlyNewIsSent(tenant, dialogue);
}

/** Asks, runs the tools that are called until none is, and returns the answer. */
async function turn(respond, state, echo, text) {
  let items = [user(text)];
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
