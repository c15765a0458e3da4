// Setup for the OpenAI Agents SDK: models, clients, listeners, approvals.

import * as sdk from "@openai/agents";
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { suite, test } from "node:test";

import { Runner, run } from "antiphon/openai-agents";
import OpenAI from "openai";
import { z } from "zod";

import {
  DELIVERIES,
  ECHO,
  ECHO_TWICE,
  FACT,
  RECALL,
  RECALLED,
  assertNoFaults,
  echoing,
  outputs,
  providing,
  stateful,
  statefulClient,
} from "./agents_sdk.js";
import { startProvider } from "./provider.js";

const STOPPING = { toolUseBehavior: "stop_on_first_tool" };

/** The functions that run an agent, by the place of the client. */
const SETUPS = {
  "the SDK's default client, with `run`": (options) => {
    sdk.setDefaultOpenAIClient(statefulClient());
    return [run, echoing(options)];
  },
  "the runner's provider": (options) => running(stateful(), echoing(options)),
  "the runner's model": (options) => {
    const model = new sdk.OpenAIResponsesModel(statefulClient(), "fake-model");
    return running(new Runner({ model }), echoing({ model: "", ...options }));
  },
  "the agent's model": (options) => {
    const model = new sdk.OpenAIResponsesModel(statefulClient(), "fake-model");
    return running(new Runner(), echoing({ model, ...options }));
  },
  "a client without statefulFetch": (options) =>
    running(new Runner(providing(new OpenAI({ maxRetries: 0 }))), echoing(options)),
};

function running(runner, agent) {
  return [runner.run.bind(runner), agent];
}

for (const [name, newSetup] of Object.entries(SETUPS)) {
  test(`the outputs are delivered with ${name}`, async (t) => {
    const provider = await startProvider(t);
    const conversationId = await provider.newConversation();
    const [ask, agent] = newSetup(STOPPING);
    for (const text of [FACT, ECHO]) await ask(agent, text, { conversationId });
    assert.deepEqual(outputs(await provider.items(conversationId)), ["hello"]);
    assert.equal((await ask(agent, RECALL, { conversationId })).finalOutput, RECALLED);
    await assertNoFaults(provider);
  });
}

test("the SDK's listeners are called", async (t) => {
  await startProvider(t);
  const runner = stateful();
  const heard = [];
  runner.on("agent_tool_end", (_context, _agent, _tool, result) => heard.push(result));
  await runner.run(echoing(), ECHO);
  assert.deepEqual(heard, ["hello"]);
});

test("an output that cannot be delivered is a warning", async (t) => {
  await startProvider(t);
  const warned = new Promise((resolve) => process.once("warning", resolve));
  const failing = async (input, init) => {
    if (/\/items/.test(String(input))) throw new Error("no connection");
    return fetch(input, init);
  };
  const runner = new Runner(providing(new OpenAI({ maxRetries: 0, fetch: failing })));
  const provider = new OpenAI();
  const { id: conversationId } = await provider.conversations.create();
  const { finalOutput } = await runner.run(echoing(STOPPING), ECHO, { conversationId });
  assert.equal(finalOutput, "hello");
  assert.equal((await warned).code, "ANTIPHON_DELIVERY");
});

test("a run in a session uses the SDK unchanged", async (t) => {
  const provider = await startProvider(t);
  const runner = stateful();
  const options = { session: new sdk.MemorySession() };
  const answers = [];
  for (const text of [FACT, ECHO, RECALL]) {
    answers.push((await runner.run(echoing(STOPPING), text, options)).finalOutput);
  }
  assert.deepEqual(answers, ["Noted.", "hello", RECALLED]);
  const paths = (await provider.log()).map(({ path }) => path);
  assert.deepEqual(paths, Array(3).fill("/v1/responses"));
  await assertNoFaults(provider);
});

suite("a run that waits for an approval", () => {
  const asking = (options) => echoing({ needsApproval: true, ...options });

  /** A run that is paused, and its state in which every call is approved. */
  async function approved(runner, deliver, agent, text, conversationId) {
    const paused = await deliver(runner, agent, text, { conversationId });
    const state = await sdk.RunState.fromString(agent, paused.state.toString());
    return {
      state,
      approve: () => {
        for (const interruption of state.getInterruptions()) state.approve(interruption);
      },
    };
  }

  for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
    test(`${delivery}: resumes in its conversation`, async (t) => {
      const provider = await startProvider(t);
      const conversationId = await provider.newConversation();
      const [runner, agent] = [stateful(), asking()];
      const { state, approve } = await approved(runner, deliver, agent, ECHO, conversationId);
      approve();
      assert.equal((await deliver(runner, agent, state)).finalOutput, "echo said: hello");
      await assertNoFaults(provider);
    });

    test(`${delivery}: resumes after other turns`, async (t) => {
      const provider = await startProvider(t);
      const conversationId = await provider.newConversation();
      const [runner, agent] = [stateful(), asking()];
      const { state, approve } = await approved(runner, deliver, agent, ECHO, conversationId);
      await deliver(runner, agent, FACT, { conversationId });
      approve();
      await deliver(runner, agent, state);
      const { finalOutput } = await deliver(runner, agent, RECALL, { conversationId });
      assert.equal(finalOutput, RECALLED);
      assert.deepEqual(outputs((await provider.turns()).at(-1)), ["hello"]);
      await assertNoFaults(provider);
    });

    test(`${delivery}: delivers its output without a request`, async (t) => {
      const provider = await startProvider(t);
      const conversationId = await provider.newConversation();
      const [runner, agent] = [stateful(), asking(STOPPING)];
      const text = `${FACT}. ${ECHO}`;
      const { state, approve } = await approved(runner, deliver, agent, text, conversationId);
      approve();
      assert.equal((await deliver(runner, agent, state)).finalOutput, "hello");
      assert.deepEqual(outputs(await provider.items(conversationId)), ["hello"]);
      const { finalOutput } = await deliver(runner, agent, RECALL, { conversationId });
      assert.equal(finalOutput, RECALLED);
      await assertNoFaults(provider);
    });

    test(`${delivery}: delivers the output of a rejected call`, async (t) => {
      const provider = await startProvider(t);
      const conversationId = await provider.newConversation();
      const [runner, agent] = [stateful(), asking(STOPPING)];
      const { state } = await approved(runner, deliver, agent, ECHO, conversationId);
      state.reject(state.getInterruptions()[0], { message: "not allowed" });
      await deliver(runner, agent, state);
      assert.deepEqual(outputs(await provider.items(conversationId)), ["not allowed"]);
      await assertNoFaults(provider);
    });
  }

  test("between two calls sends each output once, with any client", async (t) => {
    const provider = await startProvider(t);
    for (const client of [new OpenAI({ maxRetries: 0 }), statefulClient()]) {
      const conversationId = await provider.newConversation();
      const runner = new Runner(providing(client));
      const calls = [];
      const needsApproval = async (_context, _input, callId) => {
        if (!calls.includes(callId)) calls.push(callId);
        return callId === calls[0];
      };
      const agent = echoing({ needsApproval });
      const paused = await runner.run(agent, ECHO_TWICE, { conversationId });
      paused.state.approve(paused.interruptions[0]);
      await runner.run(agent, paused.state);
      const read = outputs((await provider.turns()).at(-1));
      assert.deepEqual(read, ["hello twice", "hello twice"]);
    }
    await assertNoFaults(provider);
  });
});

test("the output of an agent that is a tool is delivered", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const parameters = z.object({ text: z.string() });
  const tool = echoing().asTool({ toolName: "echo", toolDescription: "Echoes.", parameters });
  const agent = echoing({ ...STOPPING, tools: [tool] });
  const { finalOutput } = await stateful().run(agent, ECHO, { conversationId });
  assert.deepEqual(outputs(await provider.items(conversationId)), [finalOutput]);
  await assertNoFaults(provider);
});

test("it can be required", () => {
  const require = createRequire(import.meta.url);
  const { Runner } = require("antiphon/openai-agents");
  assert.ok(new Runner() instanceof require("@openai/agents").Runner);
});
