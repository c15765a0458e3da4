// Chats that store the text of an interrupted answer under its item id, with server state: the server
// receives the text once.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import OpenAI from "openai";

import { DELIVERIES, VERSIONS, call, user, wrapped } from "./ai_sdk.js";
import { kind, startProvider } from "./provider.js";

const TURNS = 3;

for (const [version, sdk] of Object.entries(VERSIONS)) {
  suite(version, () => {
    for (const isNew of [false, true]) {
      const whose = isNew ? "models that know nothing of it" : "the model that heard it";
      for (const onAbort of ["nothing", "whole"]) {
        test(`in a conversation, by ${whose}, stored ${onAbort}`, async (t) => {
          const provider = await startProvider(t, { onAbort });
          const conversation = await provider.newConversation();
          const modelOf = () => wrapped(sdk, { conversations: new OpenAI().conversations });
          const first = modelOf();
          const history = [user("Hello there")];
          history.push(await keptOf(sdk, provider, call(sdk, first, history, { conversation })));

          const told = [];
          for (let turn = 1; turn <= TURNS; turn += 1) {
            history.push(user(`Question ${turn}`));
            const model = isNew ? modelOf() : first;
            const next = await DELIVERIES.generateText(
              sdk,
              call(sdk, model, history, { conversation }),
            );
            history.push(...next.messages);
            told.push(...next.warnings.filter(({ message }) => /not found/.test(message)));
          }

          const held = (await provider.items(conversation)).map(kind);
          assert.deepEqual(held, alternating(TURNS + 1));
          assert.equal(told.length, onAbort === "nothing" ? 1 : 0);
          assert.deepEqual(await provider.refusals(), []);
        });
      }
    }

    test("after a response", async (t) => {
      const provider = await startProvider(t, { onAbort: "nothing" });
      const model = wrapped(sdk);
      const history = [user("Hello there")];
      const begun = await DELIVERIES.generateText(sdk, call(sdk, model, history));
      history.push(...begun.messages, user("And then?"));
      let previousResponseId = begun.responseId;
      const asked = () => call(sdk, model, history, { previousResponseId });
      history.push(await keptOf(sdk, provider, asked()));

      for (let turn = 1; turn <= TURNS; turn += 1) {
        history.push(user(`Question ${turn}`));
        const { messages, responseId } = await DELIVERIES.generateText(sdk, asked());
        history.push(...messages);
        previousResponseId = responseId;
      }

      const given = (await provider.turns()).at(-1).map(kind);
      assert.deepEqual(given, alternating(TURNS + 2).slice(0, -1));
      assert.deepEqual(await provider.refusals(), []);
    });
  });
}

/** The message that a chat stores of an answer abandoned at the start of its text. */
async function keptOf(sdk, provider, options) {
  await provider.hold("in_text");
  const leaving = new AbortController();
  const { signal: abortSignal } = leaving;
  const result = sdk.streamText({ ...options, abortSignal, onError() {} });
  const kept = { type: "text", text: "" };
  for await (const part of result.stream ?? result.fullStream) {
    if (part.type === "text-start") kept.providerOptions = part.providerMetadata;
    if (part.type !== "text-delta") continue;
    kept.text += part.text;
    leaving.abort();
  }
  return { role: "assistant", content: [kept] };
}

function alternating(turns) {
  return Array.from({ length: turns }, () => ["user", "assistant"]).flat();
}
