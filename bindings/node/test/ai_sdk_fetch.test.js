// The AI SDK with a provider that uses `statefulFetch`, without the middleware.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { statefulFetch } from "antiphon";
import { stateful } from "antiphon/ai-sdk";
import OpenAI from "openai";

import {
  DELIVERIES,
  ECHO,
  FACT,
  MODEL,
  RECALL,
  VERSIONS,
  call,
  leave,
  onceFree,
  user,
} from "./ai_sdk.js";
import { leftChat } from "./ai_sdk_chat.js";
import { kind, startProvider } from "./provider.js";

const quiet = () => statefulFetch({ onReport: () => {} });

for (const [version, sdk] of Object.entries(VERSIONS)) {
  const modelOf = () => sdk.createOpenAI({ fetch: quiet() }).responses(MODEL);

  for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
    suite(`${version} ${delivery}`, () => {
      test("in a conversation only new items are sent", async (t) => {
        const provider = await startProvider(t);
        const conversation = await provider.newConversation();
        const { text } = await dialogue(sdk, deliver, modelOf(), () => ({ conversation }));
        assert.match(text, /purple/);
        await assertWhole(provider);
        assert.deepEqual((await provider.sent()).map((items) => items.map(kind)), [
          ["user"],
          ["user"],
          ["function_call_output"],
          ["user"],
        ]);
      });

      test("in a chain held items are left out", async (t) => {
        const provider = await startProvider(t);
        const model = modelOf();
        const state = ({ responseId }) => ({ previousResponseId: responseId });
        const { text } = await dialogue(sdk, deliver, model, state);
        assert.match(text, /purple/);
        await assertWhole(provider);
      });

      test("histories without server state are sent in full", async (t) => {
        const provider = await startProvider(t);
        const { text } = await dialogue(sdk, deliver, modelOf(), () => ({}));
        assert.match(text, /purple/);
        await assertWhole(provider);
      });
    });
  }

  for (const onAbort of ["part", "nothing"]) {
    for (const place of ["in_reasoning", "in_text"]) {
      test(`${version}: a chat abandoned ${place} continues in another process`, async (t) => {
        const provider = await startProvider(t, { onAbort });
        const history = await leftChat(sdk, provider, modelOf(), place);

        const { text } = await DELIVERIES.streamText(sdk, call(sdk, modelOf(), history));

        assert.match(text, /purple/);
      });
    }
  }

  test(`${version}: the middleware can be combined with it`, async (t) => {
    const provider = await startProvider(t);
    const conversation = await provider.newConversation();
    const { conversations } = new OpenAI();
    const model = sdk.wrapLanguageModel({ model: modelOf(), middleware: stateful({ conversations }) });
    await dialogue(sdk, DELIVERIES.streamText, model, () => ({ conversation }));
    await assertWhole(provider);
  });

  for (const onAbort of ["part", "whole", "nothing"]) {
    for (const place of ["in_reasoning", "in_arguments", "behind_call", "in_text"]) {
      test(`${version}: abandoned ${place}, stored ${onAbort}: the next turn works`, async (t) => {
        const provider = await startProvider(t, { onAbort });
        const conversation = await provider.newConversation();
        const model = modelOf();
        const history = [user(FACT)];
        const first = call(sdk, model, history, { conversation });
        const told = await DELIVERIES.generateText(sdk, first);
        history.push(...told.messages, user(place === "in_text" ? "Hello there" : ECHO));
        await provider.hold(place);
        await leave(sdk, call(sdk, model, history, { conversation }), place);
        await provider.idle();

        history.push(user(RECALL));
        const options = call(sdk, model, history, { conversation });
        const { text } = await onceFree(() => DELIVERIES.generateText(sdk, options));

        assert.match(text, /purple/);
        assert.deepEqual(await provider.twice(), []);
      });
    }
  }
}

async function dialogue(sdk, deliver, model, state) {
  const history = [];
  let answer = {};
  for (const text of [FACT, ECHO, RECALL]) {
    history.push(user(text));
    answer = await deliver(sdk, call(sdk, model, history, state(answer)));
    history.push(...answer.messages);
  }
  return answer;
}

async function assertWhole(provider) {
  assert.deepEqual(await provider.refusals(), []);
  assert.deepEqual(await provider.twice(), []);
}
