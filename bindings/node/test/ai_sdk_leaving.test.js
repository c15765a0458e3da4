// Turns of a conversation that are abandoned in the middle, and the next turn.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";

import OpenAI from "openai";

import {
  DELIVERIES,
  ECHO,
  FACT,
  RECALL,
  VERSIONS,
  bare,
  call,
  echoTool,
  leave,
  onceFree,
  user,
  wrapped,
} from "./ai_sdk.js";
import { kind, startProvider } from "./provider.js";

const PLACES = ["in_reasoning", "in_arguments", "behind_call", "in_text"];
const OUTCOMES = ["part", "whole", "nothing"];

for (const [version, sdk] of Object.entries(VERSIONS)) {
  suite(version, () => {
    test("without the middleware the next turn is rejected", async (t) => {
      const provider = await startProvider(t);
      const left = await leftTurn(sdk, provider, bare(sdk), "behind_call");
      const next = onceFree(() => DELIVERIES.generateText(sdk, left.next));
      await assert.rejects(next, /No tool output found/);
    });

    test("without a list, the answer is not sent again", async (t) => {
      const provider = await startProvider(t, { onAbort: "nothing" });
      const { next } = await leftTurn(sdk, provider, wrapped(sdk), "behind_call");

      await DELIVERIES.generateText(sdk, next);

      assert.deepEqual(await provider.twice(), []);
      assert.deepEqual((await provider.sent()).at(-1).map(kind), ["user", "user"]);
    });

    test("the model continues after the other turn", async (t) => {
      const provider = await startProvider(t);
      const conversation = await provider.newConversation();
      const model = wrapped(sdk, { conversations: new OpenAI().conversations });
      const left = new AbortController();
      await provider.hold("in_text");
      const other = call(sdk, bare(sdk), [user(FACT)], { conversation });
      const { stream, fullStream } = sdk.streamText({
        ...other,
        abortSignal: left.signal,
        onError() {},
      });
      for await (const { type } of stream ?? fullStream) if (type === "text-delta") break;

      const next = call(sdk, model, [user(RECALL)], { conversation });
      const answer = DELIVERIES.generateText(sdk, next);
      await refusedOnce(provider);
      left.abort();

      assert.match((await answer).text, /purple/);
    });

    for (const isNew of [false, true]) {
      const whose = isNew ? "another model" : "the same model";
      test(`a late output replaces the placeholder, by ${whose}`, async (t) => {
        const provider = await startProvider(t);
        const conversation = await provider.newConversation();
        const options = { conversations: new OpenAI().conversations };
        const model = wrapped(sdk, options);
        const { echo } = echoTool(sdk);
        const { execute: _, ...slow } = echo;
        const asked = call(sdk, model, [user(ECHO)], { conversation });
        const toldSlowly = { ...asked, tools: { echo: slow } };
        const [waiting] = (await DELIVERIES.generateText(sdk, toldSlowly)).messages;
        await DELIVERIES.generateText(sdk, call(sdk, model, [user(FACT)], { conversation }));

        const { toolCallId } = waiting.content.find(({ type }) => type === "tool-call");
        const output = { type: "text", value: "hello at last" };
        const result = { type: "tool-result", toolCallId, toolName: "echo", output };
        const history = [user(ECHO), waiting, { role: "tool", content: [result] }, user(RECALL)];
        const next = isNew ? wrapped(sdk, options) : model;
        const state = { conversation };
        const { text } = await DELIVERIES.generateText(sdk, call(sdk, next, history, state));

        assert.match(text, /purple/);
        assert.deepEqual(await provider.refusals(), []);
        const outputs = (await provider.items(conversation)).filter(({ output }) => output);
        assert.deepEqual(outputs.map(({ output }) => output), ["hello at last"]);
      });
    }

    for (const place of PLACES) {
      for (const onAbort of OUTCOMES) {
        test(`abandoned ${place}, stored ${onAbort}: the next turn works`, async (t) => {
          const provider = await startProvider(t, { onAbort });
          const model = wrapped(sdk, { conversations: new OpenAI().conversations });
          const { next } = await leftTurn(sdk, provider, model, place);

          const { text } = await DELIVERIES.generateText(sdk, next);

          assert.match(text, /purple/);
          assert.deepEqual(await provider.twice(), []);
        });
      }
    }
  });
}

/** A fact, then a turn abandoned at `place`. The next turn sends all messages except its answer. */
async function leftTurn(sdk, provider, model, place) {
  const conversation = await provider.newConversation();
  const history = [user(FACT)];
  const told = await DELIVERIES.generateText(sdk, call(sdk, model, history, { conversation }));
  history.push(...told.messages, user(place === "in_text" ? "Hello there" : ECHO));

  await provider.hold(place);
  await leave(sdk, call(sdk, model, history, { conversation }), place);
  await provider.idle();

  return { next: call(sdk, model, [...history, user(RECALL)], { conversation }) };
}

async function refusedOnce(provider) {
  const deadline = Date.now() + 10_000;
  while ((await provider.refusals()).length === 0) {
    if (Date.now() > deadline) throw new Error("nothing was refused");
    await setImmediate();
  }
}
