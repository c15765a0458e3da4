// The OpenAI Agents SDK with a conversation that the server stores: the ways a run can end.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import {
  DELIVERIES,
  ECHO,
  ECHO_TWICE,
  FACT,
  RECALL,
  RECALLED,
  UNANSWERED,
  assertNoFaults,
  echoing,
  failing,
  onceThenFailing,
  outputs,
  plain,
  stateful,
  statefulFetchOnly,
} from "./agents_sdk.js";
import { startProvider } from "./provider.js";

const ended = (toolUseBehavior) => async (ask) => {
  const { finalOutput } = await ask(echoing({ toolUseBehavior }), ECHO);
  assert.equal(finalOutput, "hello");
};

/** The ways a run can end with calls whose outputs were not sent, and the outputs of each. */
const ENDS = {
  "stop_on_first_tool": [ended("stop_on_first_tool"), ["hello"]],
  "stopAtToolNames": [ended({ stopAtToolNames: ["echo"] }), ["hello"]],
  "a function that stops at a tool": [
    ended((_context, [{ output }]) => ({
      isFinalOutput: true,
      isInterrupted: undefined,
      finalOutput: output,
    })),
    ["hello"],
  ],
  "stop_on_first_tool with two calls": [
    (ask) => ask(echoing({ toolUseBehavior: "stop_on_first_tool" }), ECHO_TWICE),
    ["hello twice", "hello twice"],
  ],
  "maxTurns": [
    (ask) => assert.rejects(ask(echoing(), ECHO, { maxTurns: 1 }), /Max turns/),
    ["hello"],
  ],
  "a tool that throws": [
    (ask) => assert.rejects(ask(echoing({ execute: failing }), ECHO), /the tool failed/),
    [],
  ],
  "a tool that throws after another call's output": [
    (ask) => {
      const options = { execute: onceThenFailing() };
      return assert.rejects(ask(echoing(options), ECHO_TWICE), /the tool failed/);
    },
    ["hello"],
  ],
  "two tools that throw": [
    (ask) => {
      const execute = (_input, { toolCall }) => failing({ text: toolCall.callId });
      return assert.rejects(ask(echoing({ execute }), ECHO_TWICE), /the tool failed/);
    },
    [],
  ],
  "an approval that never arrives": [
    async (ask) => {
      const { interruptions } = await ask(echoing({ needsApproval: true }), ECHO);
      assert.equal(interruptions.length, 1);
    },
    [],
  ],
};

/** A fact, a run that ends with unanswered calls, a recall. */
async function threeTurns(provider, runner, deliver, end) {
  const conversationId = await provider.newConversation();
  const ask = (agent, text, options) =>
    deliver(runner, agent, text, { conversationId, ...options });
  await ask(echoing(), FACT);
  await end(ask);
  const held = outputs(await provider.items(conversationId));
  const { finalOutput } = await ask(echoing(), RECALL);
  return { finalOutput, held };
}

for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
  for (const [name, [end, delivered]] of Object.entries(ENDS)) {
    suite(`${delivery}: ${name}`, () => {
      test("without the package breaks the conversation", async (t) => {
        const provider = await startProvider(t);
        await assert.rejects(threeTurns(provider, plain(), deliver, end), UNANSWERED);
      });

      test("with the package delivers the outputs", async (t) => {
        const provider = await startProvider(t);
        const { finalOutput, held } = await threeTurns(provider, stateful(), deliver, end);
        assert.equal(finalOutput, RECALLED);
        assert.deepEqual(held, delivered);
        await assertNoFaults(provider);
        const read = (await provider.turns()).at(-1);
        const calls = read.filter(({ type }) => type === "function_call");
        assert.equal(outputs(read).length, calls.length);
      });
    });
  }
}

test("a run without unsent outputs posts nothing", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  await stateful().run(echoing(), ECHO, { conversationId });
  const posts = (await provider.log()).filter(({ method }) => method === "POST");
  const paths = posts.map(({ path }) => path);
  assert.deepEqual(paths, ["/v1/conversations", "/v1/responses", "/v1/responses"]);
  await assertNoFaults(provider);
});

/** With `statefulFetch` alone the model reads a placeholder; with the runner, the real output. */
for (const [title, newRunner, isReal] of [
  ["with the SDK's runner the model reads a placeholder", statefulFetchOnly, false],
  ["with the package's runner the model reads the output", stateful, true],
]) {
  test(title, async (t) => {
    const provider = await startProvider(t);
    const conversationId = await provider.newConversation();
    const runner = newRunner();
    await runner.run(echoing({ toolUseBehavior: "stop_on_first_tool" }), ECHO, { conversationId });
    await runner.run(echoing(), RECALL, { conversationId });
    const read = outputs((await provider.turns()).at(-1));
    assert.equal(read.length, 1);
    assert.equal(read[0] === "hello", isReal, read[0]);
  });
}

suite("a handoff that no request has sent", () => {
  const HANDED_OFF = [
    { answer: [{ message: "Noted." }] },
    { answer: [{ call: { name: "transfer_to_second", arguments: {} } }] },
  ];

  function runOutOfTurns(ask) {
    const agent = echoing({ handoffs: [echoing({ name: "second" })] });
    return assert.rejects(ask(agent, ECHO, { maxTurns: 1 }), /Max turns/);
  }

  test("without the package breaks the conversation", async (t) => {
    const provider = await startProvider(t, { script: HANDED_OFF });
    const turns = threeTurns(provider, plain(), DELIVERIES.run, runOutOfTurns);
    await assert.rejects(turns, UNANSWERED);
  });

  for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
    test(`with the package is delivered: ${delivery}`, async (t) => {
      const provider = await startProvider(t, { script: HANDED_OFF });
      const { finalOutput, held } = await threeTurns(provider, stateful(), deliver, runOutOfTurns);
      assert.equal(finalOutput, RECALLED);
      assert.match(held.join(), /second/);
      await assertNoFaults(provider);
    });
  }
});

test("a conversation that the SDK broke is repaired", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const stopping = echoing({ toolUseBehavior: "stop_on_first_tool" });
  for (const text of [FACT, ECHO]) await plain().run(stopping, text, { conversationId });
  const { finalOutput } = await stateful().run(echoing(), RECALL, { conversationId });
  assert.equal(finalOutput, RECALLED);
  await assertNoFaults(provider);
});
