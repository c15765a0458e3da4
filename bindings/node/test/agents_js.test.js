// The OpenAI Agents SDK for JavaScript with a client that uses `statefulFetch`.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { statefulFetch } from "antiphon";
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
  runnerWith(new OpenAI({ maxRetries: 0, fetch: statefulFetch({ onReport: () => {} }) }));

test("a run in a conversation works as usual", async (t) => {
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

  test("without the package blocks every later turn", async (t) => {
    const provider = await startProvider(t);
    await assert.rejects(afterIt(provider, plain()), /No tool output found for function call/);
  });

  test("with the package leaves a usable conversation", async (t) => {
    const provider = await startProvider(t);
    const { finalOutput } = await afterIt(provider, beside());
    assert.match(finalOutput, /purple/);
    assert.deepEqual(await provider.twice(), []);
  });
});

suite("a history that the conversation already has", () => {
  async function broughtAgain(provider, runner) {
    const conversationId = await provider.newConversation();
    const { history } = await runner.run(echoing(), ECHO, { conversationId });
    const said = { type: "message", role: "user", content: FACT };
    return runner.run(echoing(), [...history, said], { conversationId });
  }

  test("without the package is rejected", async (t) => {
    const provider = await startProvider(t);
    await assert.rejects(broughtAgain(provider, plain()), /Duplicate item found/);
  });

  test("with the package is left out", async (t) => {
    const provider = await startProvider(t);
    await broughtAgain(provider, beside());
    assert.deepEqual(await provider.refusals(), []);
    assert.deepEqual(await provider.twice(), []);
    assert.deepEqual((await provider.sent()).at(-1).map(kind), ["user"]);
  });
});

suite("a streamed run that is abandoned after a call", () => {
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

  test("without the package blocks every later turn", async (t) => {
    const provider = await startProvider(t);
    await assert.rejects(afterLeaving(provider, plain()), /No tool output found for function call/);
  });

  test("with the package leaves a usable conversation", async (t) => {
    const provider = await startProvider(t);
    const { finalOutput } = await afterLeaving(provider, beside());
    assert.match(finalOutput, /purple/);
    assert.deepEqual(await provider.twice(), []);
  });
});

function runnerWith(openAIClient) {
  return new Runner({ modelProvider: new OpenAIProvider({ openAIClient }) });
}

/** An agent with the tool `echo(text) -> text`, whose errors end the run. */
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
