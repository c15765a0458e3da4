// The OpenAI Agents SDK with a chain of responses: the next request sends the outputs.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { RunResult } from "@openai/agents";
import { Runner } from "antiphon/openai-agents";
import OpenAI from "openai";

import {
  DELIVERIES,
  ECHO,
  FACT,
  RECALL,
  RECALLED,
  UNANSWERED,
  assertNoFaults,
  echoing,
  failing,
  outputs,
  plain,
  providing,
  stateful,
} from "./agents_sdk.js";
import { startProvider } from "./provider.js";

/** A run that ends with its tool's output, and runs that continue its last response. */
async function stoppedAtFirstTool(runner, deliver, branches = 1) {
  const agent = echoing({ toolUseBehavior: "stop_on_first_tool" });
  const stopped = await deliver(runner, agent, `${FACT}. ${ECHO}`);
  assert.equal(stopped.finalOutput, "hello");
  const recalled = [];
  for (let branch = 0; branch < branches; branch += 1) {
    const options = { previousResponseId: stopped.lastResponseId };
    recalled.push((await deliver(runner, agent, RECALL, options)).finalOutput);
  }
  return recalled;
}

for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
  suite(`${delivery}: a run that stops at its first tool`, () => {
    test("without the package breaks the chain", async (t) => {
      await startProvider(t);
      await assert.rejects(stoppedAtFirstTool(plain(), deliver), UNANSWERED);
    });

    test("with the package sends its output with the next run", async (t) => {
      const provider = await startProvider(t);
      assert.deepEqual(await stoppedAtFirstTool(stateful(), deliver), [RECALLED]);
      await assertNoFaults(provider);
      assert.deepEqual(outputs((await provider.sent()).at(-1)), ["hello"]);
    });
  });
}

test("every branch of a chain sends the output", async (t) => {
  const provider = await startProvider(t);
  const recalled = await stoppedAtFirstTool(stateful(), DELIVERIES.run, 2);
  assert.deepEqual(recalled, [RECALLED, RECALLED]);
  await assertNoFaults(provider);
  const turns = (await provider.turns()).slice(-2);
  assert.deepEqual(turns.map(outputs), [["hello"], ["hello"]]);
});

test("an output in the input takes precedence", async (t) => {
  const provider = await startProvider(t);
  const runner = stateful();
  const agent = echoing({ toolUseBehavior: "stop_on_first_tool" });
  const stopped = await runner.run(agent, `${FACT}. ${ECHO}`);
  const output = { ...stopped.output.at(-1), output: { type: "text", text: "hello, edited" } };
  const input = [output, { role: "user", content: RECALL }];
  const options = { previousResponseId: stopped.lastResponseId };
  assert.equal((await runner.run(agent, input, options)).finalOutput, RECALLED);
  await assertNoFaults(provider);
  assert.deepEqual(outputs((await provider.sent()).at(-1)), ["hello, edited"]);
});

test("the output of a run that reached its maximum of turns goes with the next run", async (t) => {
  const provider = await startProvider(t);
  const runner = stateful();
  const error = await runner.run(echoing(), ECHO, { maxTurns: 1 }).catch((error) => error);
  assert.match(error.message, /Max turns/);
  const options = { previousResponseId: new RunResult(error.state).lastResponseId };
  await runner.run(echoing(), RECALL, options);
  await assertNoFaults(provider);
  assert.deepEqual(outputs((await provider.sent()).at(-1)), ["hello"]);
});

test("the call of a tool that throws has a placeholder", async (t) => {
  const provider = await startProvider(t);
  const runner = stateful();
  const streamed = await runner.run(echoing({ execute: failing }), `${FACT}. ${ECHO}`, {
    stream: true,
  });
  await assert.rejects(streamed.completed, /the tool failed/);
  const options = { previousResponseId: streamed.lastResponseId };
  assert.equal((await runner.run(echoing(), RECALL, options)).finalOutput, RECALLED);
  await assertNoFaults(provider);
  const [placeholder, ...more] = outputs((await provider.turns()).at(-1));
  assert.doesNotMatch(placeholder, /hello|failed/);
  assert.deepEqual(more, []);
});

test("other accounts do not find the output", async (t) => {
  const provider = await startProvider(t);
  const agent = echoing({ toolUseBehavior: "stop_on_first_tool" });
  const { lastResponseId } = await stateful().run(agent, ECHO);
  const other = new Runner(providing(new OpenAI({ maxRetries: 0, apiKey: "sk-other" })));
  const run = other.run(agent, RECALL, { previousResponseId: lastResponseId });
  await assert.rejects(run, /not found/);
  const { body } = (await provider.requests()).at(-1);
  assert.deepEqual(outputs(body.input), []);
});

test("an output that is too long to be stored does not remove others", async (t) => {
  const provider = await startProvider(t);
  const runner = stateful();
  const stopping = { toolUseBehavior: "stop_on_first_tool" };
  const kept = await runner.run(echoing(stopping), ECHO);
  const execute = () => "x".repeat(16_000_001);
  const lost = await runner.run(echoing({ execute, ...stopping }), ECHO);
  const read = [];
  for (const { lastResponseId } of [lost, kept]) {
    await runner.run(echoing(), RECALL, { previousResponseId: lastResponseId });
    read.push(...outputs((await provider.turns()).at(-1)));
  }
  assert.ok(read[0].length < 1_000);
  assert.equal(read[1], "hello");
  await assertNoFaults(provider);
});
