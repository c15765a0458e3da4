// Histories that a program stores and sends in full, without server state.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { mend } from "antiphon/ai-sdk";

import {
  DELIVERIES,
  ECHO,
  FACT,
  RECALL,
  VERSIONS,
  bare,
  call,
  echoTool,
  user,
  wrapped,
} from "./ai_sdk.js";
import { leftChat } from "./ai_sdk_chat.js";
import { startProvider } from "./provider.js";

for (const [version, sdk] of Object.entries(VERSIONS)) {
  suite(version, () => {
    test("a valid history is sent unchanged", async (t) => {
      const plain = await sentOf(t, sdk, bare);
      const mended = await sentOf(t, sdk, wrapped);
      assert.deepEqual(mended, plain);
    });

    for (const onAbort of ["part", "whole", "nothing"]) {
      suite(`an abandoned turn is stored as ${onAbort}`, () => {
        for (const place of ["in_reasoning", "in_text"]) {
          test(`${place}: the chat continues with the middleware`, async (t) => {
            const provider = await startProvider(t, { onAbort });
            const model = wrapped(sdk);
            const history = await leftChat(sdk, provider, model, place);

            const { text } = await DELIVERIES.streamText(sdk, call(sdk, model, history));

            assert.match(text, /purple/);
            assert.deepEqual(await provider.refusals(), []);
          });
        }
      });
    }

    test("without it, orphaned reasoning is rejected", async (t) => {
      const provider = await startProvider(t);
      const history = await leftChat(sdk, provider, bare(sdk), "in_reasoning");
      const answer = DELIVERIES.generateText(sdk, call(sdk, bare(sdk), history));
      await assert.rejects(answer, /without its required following item|not found/);
    });

    test("without it, an unstored text is not found", async (t) => {
      const provider = await startProvider(t, { onAbort: "nothing" });
      const history = await leftChat(sdk, provider, bare(sdk), "in_text");
      const answer = DELIVERIES.generateText(sdk, call(sdk, bare(sdk), history));
      await assert.rejects(answer, /not found/);
    });

    test("repairs are warnings of the call", async (t) => {
      const provider = await startProvider(t);
      for (const deliver of Object.values(DELIVERIES)) {
        const model = wrapped(sdk);
        const history = await leftChat(sdk, provider, model, "in_reasoning");
        const { warnings } = await deliver(sdk, call(sdk, model, history));
        const told = warnings.filter(({ message }) => /lone_reasoning: dropped/.test(message));
        assert.equal(told.length, 1);
      }
    });

    test("mend prevents the SDK's missing result error", async (t) => {
      const provider = await startProvider(t);
      const history = await interrupted(sdk, bare(sdk));
      await assert.rejects(
        DELIVERIES.generateText(sdk, call(sdk, bare(sdk), history)),
        /Tool result is missing for tool call/,
      );

      const mended = mend(history);
      const { text } = await DELIVERIES.generateText(sdk, call(sdk, bare(sdk), mended));

      assert.match(text, /purple/);
      assert.deepEqual(await provider.refusals(), []);
      assert.equal(mended[0], history[0]);
      assert.equal(mended.at(-1), history.at(-1));
    });

    test("a late result is moved to its call", async (t) => {
      const provider = await startProvider(t);
      const history = await interrupted(sdk, bare(sdk));
      const { toolCallId } = history.at(-2).content.find(({ type }) => type === "tool-call");
      const output = { type: "text", value: "hello at last" };
      const result = { type: "tool-result", toolCallId, toolName: "echo", output };
      history.push({ role: "tool", content: [result] }, user(RECALL));
      await assert.rejects(
        DELIVERIES.generateText(sdk, call(sdk, bare(sdk), history)),
        /Tool result is missing for tool call/,
      );

      const { text } = await DELIVERIES.generateText(sdk, call(sdk, bare(sdk), mend(history)));

      assert.match(text, /purple/);
      assert.deepEqual(await provider.refusals(), []);
      const outputs = (await provider.turns()).at(-1).filter(({ output }) => output);
      assert.deepEqual(outputs.map(({ output }) => output), ["hello at last"]);
    });

    test("a message that was stored twice is sent once", async (t) => {
      const provider = await startProvider(t);
      const history = [user(FACT)];
      const { messages } = await DELIVERIES.generateText(sdk, call(sdk, bare(sdk), history));
      history.push(...messages, ...structuredClone(messages), user(RECALL));
      await assert.rejects(
        DELIVERIES.generateText(sdk, call(sdk, bare(sdk), history)),
        /Duplicate item found/,
      );
      const refused = (await provider.refusals()).length;

      const { text } = await DELIVERIES.generateText(sdk, call(sdk, wrapped(sdk), history));

      assert.match(text, /purple/);
      assert.equal((await provider.refusals()).length, refused);
    });
  });
}

/** The requests of a dialogue in which every turn sends all messages so far. */
async function sentOf(t, sdk, modelOf) {
  const provider = await startProvider(t);
  const model = modelOf(sdk);
  const history = [];
  for (const text of [FACT, ECHO, RECALL]) {
    history.push(user(text));
    const { messages } = await DELIVERIES.generateText(sdk, call(sdk, model, history));
    history.push(...messages);
  }
  return provider.sent();
}

/** Messages with a call whose tool never ran, and a new question. */
async function interrupted(sdk, model) {
  const history = [user(FACT)];
  history.push(...(await DELIVERIES.generateText(sdk, call(sdk, model, history))).messages);
  history.push(user(ECHO));
  const { echo } = echoTool(sdk);
  const { execute: _, ...unrun } = echo;
  const options = { ...call(sdk, model, history), tools: { echo: unrun } };
  const { messages } = await DELIVERIES.generateText(sdk, options);
  return [...history, ...messages, user(RECALL)];
}
