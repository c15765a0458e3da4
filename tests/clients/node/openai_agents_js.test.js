// The OpenAI Agents SDK for JavaScript, with every owner of the conversation that it knows.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

import { WAYS } from "./agents_state.js";
import {
  Tenant,
  assertConversationHolds,
  assertEachItemOnce,
  assertOnlyNewIsSent,
} from "./context.js";
import { SCENES, holdDialogue } from "./dialogue.js";
import {
  ECHO,
  FACT,
  MOMENTS,
  RECALL,
  assertGoneOn,
  assertRecalled,
  isToldBy,
  titleOf,
} from "./leaving.js";

// Traces would be sent to a service that has nothing to do with the gateway.
setTracingDisabled(true);

const SHORT = process.env.ANTIPHON_CLIENTS === "short";
const TIMEOUT = 20_000;
const MAX_TURNS = 5;

/** The ways to run an agent: at once, or as a stream whose items are announced once each. */
const DELIVERIES = {
  run: (runner, agent, input, options) => runner.run(agent, input, options),
  stream: async (runner, agent, input, options) => {
    const result = await runner.run(agent, input, { ...options, stream: true });
    const announced = [];
    for await (const { type, item } of result) {
      if (type === "run_item_stream_event") announced.push(item.type);
    }
    await result.completed;
    assert.deepEqual(announced, result.newItems.map(({ type }) => type));
    return result;
  },
};

/** Ways that continue from what the server has heard, or from what the SDK has stored. */
const HELD = ["conversation", "previous_response_id", "conversations_session", "memory_session"];

for (const [way, { newState, modelSettings }] of Object.entries(WAYS)) {
  suite(`three turns by ${way}`, () => {
    for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
      for (const [name, scene] of Object.entries(SCENES)) {
        if (SHORT && name !== "one_call" && delivery === "run") continue;
        test(`${delivery} ${name}`, () => threeTurns(newState, modelSettings, deliver, scene));
      }
    }
  });
}

for (const way of HELD) {
  const { newState } = WAYS[way];
  suite(`a turn that is left, by ${way}`, () => {
    for (const moment of MOMENTS.filter(({ lateOutput }) => !lateOutput)) {
      for (const [name, isAborted] of [["aborted", true], ["no longer read", false]]) {
        test(`${name} ${titleOf(moment)}`, () => leftTurn(newState, moment, isAborted));
      }
    }
  });
}

for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
  for (const way of HELD) {
    const said = forgetsFailedTurn(delivery, way) ? [FACT, RECALL] : [FACT, ECHO, RECALL];
    test(`${delivery}: a tool that throws, by ${way}`, () => failedTool(WAYS[way], deliver, said));
  }
  for (const [way, { newState, modelSettings }] of Object.entries(WAYS)) {
    for (const [name, toolUseBehavior] of Object.entries({
      "stops at its first tool": "stop_on_first_tool",
      "stops at a named tool": { stopAtToolNames: ["echo"] },
    })) {
      test(`${delivery}: a run that ${name}, by ${way}`, () =>
        stoppedAtTool(newState, deliver, { modelSettings, toolUseBehavior }));
    }
  }
}

/** A chain continues from the response before it; a session stores it only of a stream. */
function forgetsFailedTurn(delivery, way) {
  return way === "previous_response_id" || (delivery === "run" && way.endsWith("_session"));
}

async function threeTurns(newState, modelSettings, deliver, scene) {
  const tenant = new Tenant();
  const client = newClient(tenant);
  const state = await newState(tenant, client);
  const echo = newEcho();
  const agent = newAgent(echo.execute, { model: scene.model, modelSettings });

  const dialogue = await holdDialogue(scene, asking(deliver, client, agent, state), echo);

  if (scene.model === "sim") return;
  await assertEachItemOnce(tenant, dialogue);
  const conversation = state.conversation();
  if (conversation) await assertConversationHolds(tenant, conversation, dialogue);
  if (state.options().conversationId) await assertOnlyNewIsSent(tenant, dialogue);
}

async function leftTurn(newState, moment, isAborted) {
  const tenant = new Tenant();
  const client = newClient(tenant);
  const state = await newState(tenant, client);
  const agent = newAgent(newEcho().execute);
  const ask = asking(DELIVERIES.stream, client, agent, state);
  await ask(FACT);

  await tenant.stopNextAnswer(moment.place);
  await leave(client, agent, state, moment, isAborted);

  assertRecalled(await ask(RECALL, withoutCalls(agent)));
  await assertGoneOn(tenant, [FACT, moment.said, RECALL]);
}

/** A streamed run that is left. A chain continues from the announced id of its response. */
async function leave(client, agent, state, moment, isAborted) {
  const controller = new AbortController();
  const options = { ...state.options(), signal: controller.signal, stream: true };
  const result = await newRunner(client).run(agent, state.input(moment.said), options);
  let announced;
  for await (const { data } of result) {
    const event = data?.event;
    announced ??= event?.response?.id;
    if (!event || !isToldBy(event, moment)) continue;
    if (!isAborted) break;
    controller.abort();
  }
  await result.completed;
  if (state.isChain) state.accept({ lastResponseId: announced });
}

async function failedTool({ newState }, deliver, said) {
  const tenant = new Tenant();
  const client = newClient(tenant);
  const state = await newState(tenant, client);
  const failing = () => {
    throw new Error("the tool failed");
  };
  const agent = newAgent(failing);
  const ask = asking(deliver, client, agent, state);
  await ask(FACT);

  await assert.rejects(ask(ECHO), /the tool failed/);

  assertRecalled(await ask(RECALL, withoutCalls(agent)));
  await assertGoneOn(tenant, said);
}

async function stoppedAtTool(newState, deliver, options) {
  const tenant = new Tenant();
  const client = newClient(tenant);
  const state = await newState(tenant, client);
  const ask = asking(deliver, client, newAgent(newEcho().execute, options), state);
  await ask(FACT);

  assert.equal(await ask(ECHO), "hello");

  assertRecalled(await ask(RECALL));
  await assertGoneOn(tenant, [FACT, ECHO, RECALL]);
}

function asking(deliver, client, agent, state) {
  return async (text, asked = agent) => {
    const options = { ...state.options(), maxTurns: MAX_TURNS };
    const result = await deliver(newRunner(client), asked, state.input(text), options);
    state.accept(result);
    return result.finalOutput;
  };
}

/** Anthropic's API joins user messages, so the model would call a failed turn's tool again. */
function withoutCalls(agent) {
  return agent.clone({ modelSettings: { toolChoice: "none" } });
}

function newClient({ baseURL, apiKey }) {
  return new OpenAI({ baseURL, apiKey, timeout: TIMEOUT, maxRetries: 0 });
}

function newRunner(openAIClient) {
  return new Runner({ modelProvider: new OpenAIProvider({ openAIClient }) });
}

/** The local function behind `echo(text) -> text`, and what it heard. */
function newEcho() {
  const heard = [];
  return {
    heard,
    execute: ({ text }) => {
      heard.push(text);
      return text;
    },
  };
}

/** An agent with the tool `echo`, whose errors end the run. */
function newAgent(execute, options) {
  const echo = tool({
    name: "echo",
    description: "Says the text again.",
    parameters: z.object({ text: z.string() }),
    execute: async (input) => execute(input),
    errorFunction: null,
  });
  return new Agent({ name: "echoing", model: "fake-model", tools: [echo], ...options });
}
