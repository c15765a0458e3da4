// The OpenAI Agents SDK for JavaScript, whose client goes through `wholeFetch`.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { wholeFetch } from "antiphon";
import OpenAI from "openai";
import { z } from "zod";

import { onceFree } from "./ai_sdk.js";
import { kind, startProvider } from "./provider.js";

setTracingDisabled(true);

const FACT = "My color is purple";
const ECHO = "Echo hello";
const RECALL = "What is my color?";

const plain = () => runnerWith(new OpenAI({ maxRetries: 0 }));
const beside = () =>
  runnerWith(new OpenAI({ maxRetries: 0, fetch: wholeFetch({ onReport: () => {} }) }));

test("a run in a conversation is as it is without it", async (t) => {
  const provider = await startProvider(t);
  const conversationId = await provider.newConversation();
  const runner = beside();
  for (const said of [FACT, ECHO]) await runner.run(echoing(), said, { conversationId });
  const { finalOutput } = await runner.run(echoing(), RECALL, { conversationId });
  assert.match(finalOutput, /purple/);
  assert.deepEqual(await provider.refusals(), []);
  assert.deepEqual(await provider.twice(), []);
});

suite("a tool that raises", () => {
  const failing = () =>
    echoing(async () => {
      throw new Error("the tool failed");
    });

  async function afterIt(provider, runner) {
    const conversationId = await provider.newConversation();
    await runner.run(failing(), FACT, { conversationId });
    await assert.rejects(runner.run(failing(), ECHO, { conversationId }), /the tool failed/);
    return runner.run(failing(), RECALL, { conversationId });
  }

  test("without it keeps every later turn from being taken", async (t) => {
    const provider = await startProvider(t);
    await assert.rejects(afterIt(provider, plain()), /No tool output found for function call/);
  });

  test("with it leaves a conversation that goes on", async (t) => {
    const provider = await startProvider(t);
    const { finalOutput } = await afterIt(provider, beside());
    assert.match(finalOutput, /purple/);
    assert.deepEqual(await provider.twice(), []);
  });
});

suite("a history that is brought to a conversation that has it", () => {
  async function broughtAgain(provider, runner) {
    const conversationId = await provider.newConversation();
    const { history } = await runner.run(echoing(), ECHO, { conversationId });
    const said = { type: "message", role: "user", content: FACT };
    return runner.run(echoing(), [...history, said], { conversationId });
  }

  test("without it is refused", async (t) => {
    const provider = await startProvider(t);
    await assert.rejects(broughtAgain(provider, plain()), /Duplicate item found/);
  });

  test("with it is left out", async (t) => {
    const provider = await startProvider(t);
    await broughtAgain(provider, beside());
    assert.deepEqual(await provider.refusals(), []);
    assert.deepEqual(await provider.twice(), []);
    assert.deepEqual((await provider.sent()).at(-1).map(kind), ["user"]);
  });
});

suite("a streamed run that is left behind a call", () => {
  async function afterLeaving(provider, runner) {
    const conversationId = await provider.newConversation();
    await runner.run(echoing(), FACT, { conversationId });
    await provider.hold("behind_call");
    const left = new AbortController();
    const options = { conversationId, stream: true, signal: left.signal };
    const streamed = await runner.run(echoing(), ECHO, options);
    for await (const { data } of streamed) {
      if (/function_call_arguments\.done/.test(data?.event?.type)) left.abort();
    }
    return onceFree(() => runner.run(echoing(), RECALL, { conversationId }));
  }

  test("without it keeps every later turn from being taken", async (t) => {
    const provider = await startProvider(t);
    await assert.rejects(afterLeaving(provider, plain()), /No tool output found for function call/);
  });

  test("with it leaves a conversation that goes on", async (t) => {
    const provider = await startProvider(t);
    const { finalOutput } = await afterLeaving(provider, beside());
    assert.match(finalOutput, /purple/);
    assert.deepEqual(await provider.twice(), []);
  });
});

function runnerWith(openAIClient) {
  return new Runner({ modelProvider: new OpenAIProvider({ openAIClient }) });
}

/** An agent with the tool `echo(text) -> text`, the errors of which are the run's. */
function echoing(execute = async ({ text }) => text) {
  const echo = tool({
    name: "echo",
    description: "Says the text again.",
    parameters: z.object({ text: z.string() }),
    execute,
    errorFunction: null,
  });
  return new Agent({ name: "Echo", model: "fake-model", tools: [echo] });
}
