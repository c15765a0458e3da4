// Runs of the OpenAI Agents SDK that are aborted in the middle of an answer, or in a tool.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import {
  ECHO,
  ECHO_TWICE,
  FACT,
  RECALL,
  RECALLED,
  UNANSWERED,
  assertNoFaults,
  echoing,
  outputs,
  plain,
  stateful,
} from "./agents_sdk.js";
import { startProvider } from "./provider.js";

/** The places at which a stream is left, and the event that shows each. */
const PLACES = {
  in_reasoning: /^response\.reasoning.*\.delta$/,
  in_arguments: /^response\.function_call_arguments\.delta$/,
  behind_call: /^response\.function_call_arguments\.done$/,
  in_text: /^response\.output_text\.delta$/,
};

/** The ways to leave a stream. */
const WAYS = {
  abort: (controller) => controller.abort(),
  "stop reading": () => "stop",
};

/** The owners of the conversation, and the stored parts of an aborted turn that suffice each. */
const OWNERS = { conversation: ["part", "whole", "nothing"], chain: ["part", "whole"] };

/** Leaves a streamed run. Returns the result and the announced id of its response. */
async function leave(runner, text, place, way, options) {
  const controller = new AbortController();
  const { signal } = controller;
  const result = await runner.run(echoing(), text, { ...options, signal, stream: true });
  let announced;
  for await (const { data } of result) {
    const event = data?.event;
    announced = event?.response?.id ?? announced;
    if (PLACES[place].test(event?.type) && WAYS[way](controller) === "stop") break;
  }
  return { result, announced };
}

/**
 * A fact, a run that is left, a recall. In a conversation, the last run waits until the one before
 * has ended. A chain can be continued once the provider has stored the response.
 */
async function continued(provider, runner, owner, place, way) {
  const inConversation = owner === "conversation";
  const conversation = { conversationId: await provider.newConversation() };
  const first = await runner.run(echoing(), FACT, inConversation ? conversation : {});
  const options = inConversation ? conversation : { previousResponseId: first.lastResponseId };
  await provider.hold(place);
  const text = place === "in_text" ? "What is my dog name?" : ECHO;
  const { result, announced } = await leave(runner, text, place, way, options);
  if (!inConversation) await result.completed.then(() => provider.idle());
  const next = inConversation ? conversation : { previousResponseId: announced };
  return (await runner.run(echoing(), RECALL, next)).finalOutput;
}

for (const owner of Object.keys(OWNERS)) {
  test(`without the package a run that is left breaks its ${owner}`, async (t) => {
    const provider = await startProvider(t);
    const turns = continued(provider, plain(), owner, "behind_call", "abort");
    await assert.rejects(turns, /No tool output found|Another process/);
  });
}

for (const [owner, outcomes] of Object.entries(OWNERS)) {
  for (const onAbort of outcomes) {
    suite(`a run that is left, in a ${owner}, of which the provider stores: ${onAbort}`, () => {
      for (const place of Object.keys(PLACES)) {
        for (const way of Object.keys(WAYS)) {
          test(`${way} ${place}`, async (t) => {
            const provider = await startProvider(t, { onAbort });
            const recalled = await continued(provider, stateful(), owner, place, way);
            assert.equal(recalled, RECALLED);
            assert.deepEqual(await provider.twice(), []);
            const read = (await provider.turns()).at(-1);
            const calls = read.filter(({ type }) => type === "function_call");
            assert.equal(outputs(read).length, calls.length);
          });
        }
      }
    });
  }
}

/** A tool that answers its first call, and in its second one waits for the abort. */
function waitingInItsSecondCall(controller, { heeds }) {
  let hasAnswered = false;
  return async (_input, { signal }) => {
    if (hasAnswered) {
      const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
      controller.abort();
      await aborted;
      if (heeds) signal.throwIfAborted();
    }
    hasAnswered = true;
    return "hello";
  };
}

/** A run that is aborted between the outputs of two calls. */
async function abortedInTool(provider, runner, { stream, heeds }) {
  const conversationId = await provider.newConversation();
  await runner.run(echoing(), FACT, { conversationId });
  const controller = new AbortController();
  const execute = waitingInItsSecondCall(controller, { heeds });
  const options = { conversationId, signal: controller.signal, stream };
  const running = runner.run(echoing({ execute }), ECHO_TWICE, options);
  if (stream) await (await running).completed;
  else await assert.rejects(running, { name: "AbortError" });
  const held = outputs(await provider.items(conversationId));
  const recalled = await runner.run(echoing(), RECALL, { conversationId });
  return { finalOutput: recalled.finalOutput, held };
}

const TOOLS = {
  "ends with the abort": { heeds: true },
  "does not heed the abort": { heeds: false },
};

for (const stream of [false, true]) {
  for (const [name, { heeds }] of Object.entries(TOOLS)) {
    suite(`${stream ? "stream" : "run"}: an abort while a tool runs that ${name}`, () => {
      test("without the package breaks the conversation", async (t) => {
        const provider = await startProvider(t);
        await assert.rejects(abortedInTool(provider, plain(), { stream, heeds }), UNANSWERED);
      });

      test("with the package delivers the outputs", async (t) => {
        const provider = await startProvider(t);
        const options = { stream, heeds };
        const { finalOutput, held } = await abortedInTool(provider, stateful(), options);
        assert.equal(finalOutput, RECALLED);
        assert.deepEqual(held, heeds ? ["hello"] : ["hello", "hello"]);
        await assertNoFaults(provider);
      });
    });
  }
}
