// A conversation that the provider stores, and resent messages.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import OpenAI from "openai";

import {
  DELIVERIES,
  ECHO,
  FACT,
  RECALL,
  VERSIONS,
  bare,
  call,
  user,
  wrapped,
} from "./ai_sdk.js";
import { chatOver } from "./ai_sdk_chat.js";
import { kind, startProvider } from "./provider.js";

/** The middleware's source of held items: none, or the Conversations API. */
const SOURCES = {
  "by its own account": () => ({}),
  "by asking": () => ({ conversations: new OpenAI().conversations }),
};

for (const [version, sdk] of Object.entries(VERSIONS)) {
  for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
    suite(`${version} ${delivery}`, () => {
      test("without the middleware the model reads messages twice", async (t) => {
        const provider = await startProvider(t);
        const conversation = await provider.newConversation();
        await deliver(sdk, call(sdk, bare(sdk), [user(ECHO)], { conversation }));
        assert.deepEqual((await provider.sent()).at(-1).map(kind), [
          "user",
          "function_call_output",
        ]);
        assert.ok((await provider.twice()).length > 0);
      });

      test("without the middleware resent messages are rejected", async (t) => {
        const provider = await startProvider(t);
        const answers = dialogue(sdk, deliver, provider, bare(sdk));
        await assert.rejects(answers, /Duplicate function call output found/);
      });

      for (const [source, options] of Object.entries(SOURCES)) {
        test(`with it, ${source}, the model reads each item once`, async (t) => {
          const provider = await startProvider(t);
          const model = wrapped(sdk, options());
          const { text } = await dialogue(sdk, deliver, provider, model);

          assert.match(text, /purple/);
          await assertOnlyNewWasSent(provider);
        });

        test(`a new middleware in mid-conversation does the same, ${source}`, async (t) => {
          const provider = await startProvider(t);
          const anew = () => wrapped(sdk, options());
          await dialogue(sdk, deliver, provider, anew);
          await assertOnlyNewWasSent(provider);
        });
      }
    });
  }
}

for (const [version, sdk] of Object.entries(VERSIONS)) {
  suite(`${version}: a UI chat in a conversation`, () => {
    test("without the middleware repeats user messages", async (t) => {
      const provider = await startProvider(t);
      const conversation = await provider.newConversation();
      await chatOver(sdk, () => bare(sdk), [FACT, RECALL], { conversation });
      assert.deepEqual((await provider.sent()).at(-1).map(kind), ["user", "user"]);
      assert.ok((await provider.twice()).length > 0);
    });

    for (const [source, options] of Object.entries(SOURCES)) {
      test(`continues in a new process each time, ${source}`, async (t) => {
        const provider = await startProvider(t);
        const conversation = await provider.newConversation();
        const modelOf = () => wrapped(sdk, options());
        const chat = await chatOver(sdk, modelOf, [FACT, ECHO, RECALL], { conversation });
        assert.match(JSON.stringify(chat.at(-1)), /purple/);
        await assertOnlyNewWasSent(provider);
      });
    }
  });

  test(`${version}: instructions are sent once`, async (t) => {
    const provider = await startProvider(t);
    const conversation = await provider.newConversation();
    const model = wrapped(sdk, {});
    for (const text of [FACT, RECALL]) {
      const options = call(sdk, model, [user(text)], { conversation });
      await sdk.generateText({ ...options, system: "Be brief." });
    }
    assert.deepEqual((await provider.sent()).map((items) => items.map(kind)), [
      ["system", "user"],
      ["user"],
    ]);
  });

  test(`${version}: messages of another conversation are sent in full`, async (t) => {
    const provider = await startProvider(t);
    const first = await provider.newConversation();
    const conversations = new OpenAI().conversations;
    const model = wrapped(sdk, { conversations });
    const told = call(sdk, model, [user(FACT)], { conversation: first });
    const { messages } = await DELIVERIES.generateText(sdk, told);

    const second = await provider.newConversation();
    const history = [user(FACT), ...messages, user(RECALL)];
    const asked = call(sdk, model, history, { conversation: second });
    const { text } = await DELIVERIES.generateText(sdk, asked);

    assert.match(text, /purple/);
    assert.deepEqual((await provider.sent()).at(-1).map(kind), ["user", "assistant", "user"]);
  });
}

test("calls that the SDK split become one call", async (t) => {
  const sdk = VERSIONS["ai 7"];
  const uses = ["one", "two"].map((text) => ({
    recipient_name: "functions.echo",
    parameters: { text },
  }));
  const parallel = { name: "parallel", arguments: { tool_uses: uses }, call_id: "call_1" };
  const said = (message) => ({ answer: [{ message }] });
  const script = [{ answer: [{ call: parallel }] }, said("Both."), said("Yes.")];
  const provider = await startProvider(t, { script });
  const conversation = await provider.newConversation();
  const model = wrapped(sdk, { conversations: new OpenAI().conversations });
  const history = [user("Echo both")];
  const options = () => call(sdk, model, history, { conversation });
  history.push(...(await DELIVERIES.generateText(sdk, options())).messages, user("Really?"));

  await DELIVERIES.generateText(sdk, options());

  assert.deepEqual(await provider.refusals(), []);
  assert.deepEqual((await provider.sent()).map((items) => items.map(kind)), [
    ["user"],
    ["function_call_output"],
    ["user"],
  ]);
});

/** A fact, a tool call, a recall. Every turn sends all messages so far. */
async function dialogue(sdk, deliver, provider, model) {
  const conversation = await provider.newConversation();
  const history = [];
  let answer;
  for (const text of [FACT, ECHO, RECALL]) {
    history.push(user(text));
    const next = typeof model === "function" ? model() : model;
    answer = await deliver(sdk, call(sdk, next, history, { conversation }));
    history.push(...answer.messages);
  }
  return answer;
}

async function assertOnlyNewWasSent(provider) {
  assert.deepEqual(await provider.refusals(), []);
  assert.deepEqual(await provider.twice(), []);
  assert.deepEqual((await provider.sent()).map((items) => items.map(kind)), [
    ["user"],
    ["user"],
    ["function_call_output"],
    ["user"],
  ]);
}
