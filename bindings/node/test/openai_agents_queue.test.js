// Runs of the OpenAI Agents SDK in one conversation at the same time.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ConversationBusy, Runner } from "antiphon/openai-agents";
import OpenAI from "openai";

import {
  DELIVERIES,
  ECHO,
  FACT,
  RECALL,
  RECALLED,
  assertNoFaults,
  echoing,
  plain,
  providing,
  stateful,
} from "./agents_sdk.js";
import { startProvider } from "./provider.js";

/** A runner that does not wait for other runs. */
function hasty() {
  return Object.assign(stateful(), { queueTimeout: 0 });
}

/** A streamed run whose answer stops after its first text. Call `leave` to end it. */
async function heldAtFirstText(provider, runner, conversationId) {
  await provider.hold("in_text");
  const controller = new AbortController();
  const options = { conversationId, signal: controller.signal, stream: true };
  const result = await runner.run(echoing(), FACT, options);
  const reader = result[Symbol.asyncIterator]();
  for (;;) {
    const { value } = await reader.next();
    if (value.data?.event?.type === "response.output_text.delta") break;
  }
  return {
    leave: async () => {
      controller.abort();
      await result.completed;
    },
  };
}

test("without the package a concurrent run is rejected", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const { leave } = await heldAtFirstText(provider, plain(), conversationId);
  const run = plain().run(echoing(), RECALL, { conversationId });
  await assert.rejects(run, /Another process is currently operating on this conversation/);
  await leave();
});

test("runs of a conversation wait for each other", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const runner = stateful();
  const ways = [DELIVERIES.run, DELIVERIES.stream, DELIVERIES.run, DELIVERIES.stream];
  const runs = [FACT, ECHO, "Echo hi", RECALL].map((text, index) =>
    ways[index](runner, echoing(), text, { conversationId }),
  );
  assert.equal((await Promise.all(runs)).at(-1).finalOutput, RECALLED);
  await assertNoFaults(provider);
});

test("runs of different runners wait too", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const runs = [FACT, ECHO, "Echo hi"].map((text) =>
    stateful().run(echoing(), text, { conversationId }),
  );
  const answers = (await Promise.all(runs)).map(({ finalOutput }) => finalOutput);
  assert.deepEqual(answers, ["Noted.", "echo said: hello", "echo said: hi"]);
  await assertNoFaults(provider);
});

test("runs of other conversations do not wait", async (t) => {
  const provider = await startProvider(t);
  const first = await provider.newConversation();
  const second = await provider.newConversation();
  const { leave } = await heldAtFirstText(provider, hasty(), first);
  await hasty().run(echoing(), FACT, { conversationId: second });
  await leave();
  await assertNoFaults(provider);
});

test("a run that waits too long is rejected", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const { leave } = await heldAtFirstText(provider, stateful(), conversationId);
  const error = await hasty()
    .run(echoing(), RECALL, { conversationId })
    .catch((error) => error);
  assert.ok(error instanceof ConversationBusy);
  assert.equal(error.conversation, conversationId);
  assert.match(error.message, /was held by other runs for 0 ms/);
  await leave();
  await stateful().run(echoing(), "Thanks", { conversationId });
});

test("an abort ends the wait", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const { leave } = await heldAtFirstText(provider, stateful(), conversationId);
  const controller = new AbortController();
  const options = { conversationId, signal: controller.signal };
  const waiting = stateful().run(echoing(), RECALL, options);
  controller.abort();
  await assert.rejects(waiting);
  await leave();
  await hasty().run(echoing(), "Thanks", { conversationId });
});

test("a stream that is aborted at once releases the conversation", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const options = { conversationId, signal: AbortSignal.abort(), stream: true };
  const { completed } = await stateful().run(echoing(), FACT, options);
  await assert.rejects(completed, /aborted/);
  await hasty().run(echoing(), FACT, { conversationId });
  await assertNoFaults(provider);
});

test("a run whose delivery fails releases the conversation", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const failing = async (input, init) => {
    if (/\/items/.test(String(input))) throw new Error("no connection");
    return fetch(input, init);
  };
  const runner = new Runner(providing(new OpenAI({ maxRetries: 0, fetch: failing })));
  const agent = echoing({ toolUseBehavior: "stop_on_first_tool" });
  await runner.run(agent, ECHO, { conversationId });
  await hasty().run(echoing(), FACT, { conversationId });
});

test("a tool's run in the conversation of its own run is rejected at once", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const runner = stateful();
  const errors = [];
  const execute = async ({ text }) => {
    errors.push(await runner.run(echoing(), FACT, { conversationId }).catch((error) => error));
    return text;
  };
  await runner.run(echoing({ execute }), ECHO, { conversationId });
  assert.ok(errors[0] instanceof ConversationBusy);
  assert.match(errors[0].message, /is held by the run whose tool started this run/);
  await assertNoFaults(provider);
});
