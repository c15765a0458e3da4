// LangChain.js's chat model alone, with the tool loop written by hand.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { HumanMessage, ToolMessage, trimMessages } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { z } from "zod";

import {
  ON_ABORT,
  Tenant,
  assertConversationHolds,
  assertEachItemOnce,
  assertOnlyNewIsSent,
} from "./context.js";
import { SCENES, holdDialogue } from "./dialogue.js";
import { DELIVERIES, SEEN_MOMENTS, leave, newModel } from "./langchain_model.js";
import { FACT, RECALL, assertGoneOn, assertRecalled, titleOf } from "./leaving.js";

const SHORT = process.env.ANTIPHON_CLIENTS === "short";

/** Who keeps the conversation, and the messages of a request: the new ones, the turn's or all. */
const WAYS = {
  conversation: { held: "conversation", sends: "turn" },
  conversation_and_messages: { held: "conversation", sends: "all" },
  previous_response_id: { held: "chain", sends: "new" },
  previous_response_id_and_messages: { held: "chain", sends: "all" },
  replay: { sends: "all" },
};

for (const [name, way] of Object.entries(WAYS)) {
  suite(`three turns by ${name}`, () => {
    for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
      for (const [title, scene] of Object.entries(SCENES)) {
        if (SHORT && title !== "one_call" && delivery === "invoke") continue;
        test(`${delivery} ${title}`, () => threeTurns(way, deliver, scene));
      }
    }
  });
}

for (const [name, way] of Object.entries(WAYS)) {
  suite(`a turn that is left, by ${name}`, () => {
    for (const moment of SEEN_MOMENTS) test(`left ${titleOf(moment)}`, () => leftTurn(way, moment));
  });
}

suite("a history of which the last messages are sent", () => {
  for (const length of [2, 3, 4, 7]) {
    test(`${length} messages`, () => windowed(length));
  }
});

async function threeTurns(way, deliver, { model, calls }) {
  const tenant = new Tenant();
  const echo = newEcho();
  const state = await newState(tenant, way, model);
  const turn = async (text) => {
    let message = await state.ask(deliver, [new HumanMessage(text)]);
    while (message.tool_calls.length > 0) {
      const outputs = await Promise.all(message.tool_calls.map((call) => echo.tool.invoke(call)));
      message = await state.ask(deliver, outputs);
    }
    return message.text;
  };

  const dialogue = await holdDialogue({ model, calls }, turn, echo);

  if (model === "sim") return;
  await assertEachItemOnce(tenant, dialogue);
  if (!state.conversation) return;
  await assertConversationHolds(tenant, state.conversation, dialogue);
  await assertOnlyNewIsSent(tenant, dialogue);
}

async function leftTurn(way, moment) {
  const tenant = new Tenant();
  const state = await newState(tenant, way, "fake-model");
  await state.ask(DELIVERIES.invoke, [new HumanMessage(FACT)]);

  await tenant.stopNextAnswer(moment.place);
  const heard = await state.leave([new HumanMessage(moment.said)], moment);
  const calls = moment.lateOutput ? heard.tool_call_chunks : [];
  const outputs = calls.map(({ id }) => new ToolMessage({ content: "hello", tool_call_id: id }));
  const answer = await state.ask(DELIVERIES.invoke, [...outputs, new HumanMessage(RECALL)]);

  assertRecalled(answer.text);
  await assertGoneOn(tenant, [FACT, moment.said, RECALL]);
}

/** Each request has the last messages of the history; the model is given all items, each once. */
async function windowed(length) {
  const tenant = new Tenant();
  const conversation = await tenant.newConversation();
  const model = newModel(tenant, "fake-model", { conversation });
  const window = trimMessages({ maxTokens: length, tokenCounter: ({ length }) => length });
  const history = [];
  const turns = 8;

  for (let turn = 0; turn < turns; turn += 1) {
    history.push(new HumanMessage(`My lucky number is ${turn}`));
    history.push(await model.invoke(await window.invoke(history)));
  }

  const requests = await tenant.modelRequests();
  assert.deepEqual(
    requests.map(({ items }) => items.length),
    Array.from({ length: turns }, (_, turn) => 2 * turn + 1),
  );
  if (ON_ABORT) assert.ok(requests.every(({ sent }) => sent.length === 1));
}

/** A model, and what is kept between its requests. */
async function newState(tenant, way, name) {
  const conversation = way.held === "conversation" ? await tenant.newConversation() : undefined;
  const model = newModel(tenant, name, conversation ? { conversation } : {});
  const bound = model.bindTools([newEcho().tool]);
  const history = [];
  let responseId;

  /** The messages of the next request, and its options. */
  const next = (messages) => {
    if (way.sends === "turn" && HumanMessage.isInstance(messages.at(-1))) history.length = 0;
    if (way.sends === "new") history.length = 0;
    history.push(...messages);
    return [[...history], responseId ? { previous_response_id: responseId } : {}];
  };
  const accept = ({ response_metadata: { id } }) => {
    if (way.held === "chain") responseId = id;
  };

  return {
    conversation,
    ask: async (deliver, messages) => {
      const message = await deliver(bound, ...next(messages));
      accept(message);
      history.push(message);
      return message;
    },
    leave: async (messages, moment) => {
      const [sent, options] = next(messages);
      const heard = await leave((signal) => bound.stream(sent, { ...options, signal }), moment);
      accept(heard);
      return heard;
    },
  };
}

/** The tool `echo(text) -> text`, and what it heard. */
function newEcho() {
  const heard = [];
  const echo = ({ text }) => {
    heard.push(text);
    return text;
  };
  const schema = z.object({ text: z.string() });
  return { tool: tool(echo, { name: "echo", description: "Says the text again.", schema }), heard };
}
