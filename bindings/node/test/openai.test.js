// The plain `openai` package with `statefulFetch`, in a program that always sends its full history.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { statefulFetch } from "antiphon";
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

import { onceFree } from "./ai_sdk.js";
import { kind, startProvider } from "./provider.js";

const FACT = "My color is purple";
const ECHO = "Echo hello";
const RECALL = "What is my color?";
const TOOLS = [
  {
    type: "function",
    name: "echo",
    description: "Says the text again.",
    parameters: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    },
    strict: true,
  },
];

const quiet = () => new OpenAI({ maxRetries: 0, fetch: statefulFetch({ onReport: () => {} }) });
const plain = () => new OpenAI({ maxRetries: 0 });

/** The ways to get an answer: at once, event by event, or with the stream helper. */
const WAYS = {
  create: (client, body) => client.responses.create(body),
  "create, streamed": async (client, body) => {
    for await (const event of await client.responses.create({ ...body, stream: true })) {
      if (event.type === "response.completed") return event.response;
    }
    throw new Error("the stream ended without a response");
  },
  stream: (client, body) => client.responses.stream(body).finalResponse(),
};

test("without it, a resent history is rejected", async (t) => {
  const provider = await startProvider(t);
  const conversation = await provider.newConversation();
  const answers = dialogue(plain(), WAYS.create, { conversation });
  await assert.rejects(answers, /Duplicate item found with id/);
});

test("without it, an abandoned turn blocks later turns", async (t) => {
  const provider = await startProvider(t);
  const conversation = await provider.newConversation();
  await leave(plain(), provider, conversation, "behind_call");
  const body = { model: "m", conversation, input: RECALL };
  const next = onceFree(() => plain().responses.create(body));
  await assert.rejects(next, /No tool output found for function call/);
});

for (const [way, ask] of Object.entries(WAYS)) {
  suite(way, () => {
    test("in a conversation only new items are sent", async (t) => {
      const provider = await startProvider(t);
      const conversation = await provider.newConversation();
      const { output } = await dialogue(quiet(), ask, { conversation });
      assert.match(output.at(-1).content[0].text, /purple/);
      await assertOnlyNewWasSent(provider);
    });

    test("a new client in mid-conversation does the same", async (t) => {
      const provider = await startProvider(t);
      const conversation = await provider.newConversation();
      await dialogue(quiet, ask, { conversation });
      await assertOnlyNewWasSent(provider);
    });
  });
}

for (const onAbort of ["part", "whole", "nothing"]) {
  for (const place of ["in_reasoning", "in_arguments", "behind_call"]) {
    test(`abandoned ${place}, stored ${onAbort}: the next turn works`, async (t) => {
      const provider = await startProvider(t, { onAbort });
      const conversation = await provider.newConversation();
      const client = quiet();
      await client.responses.create({ model: "m", conversation, input: FACT });
      await leave(client, provider, conversation, place);

      const body = { model: "m", conversation, input: RECALL };
      const answer = await onceFree(() => client.responses.create(body));

      assert.match(answer.output_text, /purple/);
      assert.deepEqual(await provider.twice(), []);
    });
  }
}

test("headers report resent items and repairs", async (t) => {
  const provider = await startProvider(t);
  const conversation = await provider.newConversation();
  const client = quiet();
  await client.responses.create({ model: "m", conversation, input: ECHO, tools: TOOLS });
  const input = [user(ECHO), user(RECALL)];
  const body = { model: "m", conversation, input };
  const { response } = await client.responses.create(body).withResponse();
  assert.equal(response.headers.get("antiphon-resent"), "1");
  assert.equal(response.headers.get("antiphon-repairs"), "unanswered_call=1");
});

test("parsed answers are parsed", async (t) => {
  const script = [{ answer: [{ message: '{"color":"purple"}' }] }];
  const provider = await startProvider(t, { script });
  const conversation = await provider.newConversation();
  const format = zodTextFormat(z.object({ color: z.string() }), "answer");
  const body = { model: "m", conversation, input: RECALL, text: { format } };
  const { output_parsed } = await quiet().responses.parse(body);
  assert.deepEqual(output_parsed, { color: "purple" });
});

/** A fact, a tool call, a recall. Every request sends all items so far, as the SDK returned them. */
async function dialogue(client, ask, state) {
  const history = [];
  let answer;
  for (const said of [user(FACT), user(ECHO), undefined, user(RECALL)]) {
    history.push(...(said ? [said] : outputsOf(answer)));
    const next = typeof client === "function" ? client() : client;
    answer = await ask(next, { model: "m", input: history, tools: TOOLS, ...state });
    history.push(...answer.output);
  }
  return answer;
}

function outputsOf({ output }) {
  const calls = output.filter(({ type }) => type === "function_call");
  return calls.map(({ call_id, arguments: given }) => {
    const { text } = JSON.parse(given);
    return { type: "function_call_output", call_id, output: text };
  });
}

/** Reads an answer until it pauses, and stops. */
async function leave(client, provider, conversation, place) {
  await provider.hold(place);
  const body = { model: "m", conversation, input: ECHO, tools: TOOLS, stream: true };
  for await (const event of await client.responses.create(body)) if (IS_AT[place](event)) break;
}

const IS_AT = {
  in_reasoning: ({ type }) => /^response\.reasoning.*\.delta$/.test(type),
  in_arguments: ({ type }) => type === "response.function_call_arguments.delta",
  behind_call: ({ type, item }) =>
    type === "response.output_item.done" && item.type === "function_call",
};

async function assertOnlyNewWasSent(provider) {
  assert.deepEqual(await provider.refusals(), []);
  assert.deepEqual(await provider.twice(), []);
  assert.deepEqual((await provider.sent()).map((items) => items.map(kind)), [
    ["user"],
    ["user"],
    ["function_call_output"],
    ["user"],
  ]);
}

function user(content) {
  return { role: "user", content };
}
