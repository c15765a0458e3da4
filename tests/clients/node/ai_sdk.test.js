// The AI SDK with its OpenAI provider, by every way in which that provider keeps a conversation.

import { suite, test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";

import { breakingOff } from "./ai_leaving.js";
import {
  Tenant,
  assertConversationHolds,
  assertEachItemOnce,
  assertOnlyNewIsSent,
} from "./context.js";
import { cases } from "./delivery.js";
import { holdDialogue, newEcho } from "./dialogue.js";

/**
 * A way names who keeps the conversation (`held`: a conversation, a response chain, or nobody but
 * the program), what messages go with a turn (`sends`: only the new one, or all), the provider's
 * options, and the kinds of items that the client then leaves out (`loses`).
 */
const WAYS = {
  conversation: { held: "conversation", sends: "new" },
  conversation_and_messages: { held: "conversation", sends: "all" },
  // A turn's second step stays on the earlier response and sends the call again, not its reasoning.
  previous_response_id: { held: "chain", sends: "new", loses: ["reasoning"] },
  previous_response_id_and_messages: { held: "chain", sends: "all", loses: ["reasoning"] },
  replay_stored: { sends: "all" },
  replay_unstored_encrypted: { sends: "all", options: { store: false, forceReasoning: true } },
  // Without stored items and without encrypted content, no server can know what was reasoned.
  replay_unstored_unencrypted: { sends: "all", options: { store: false }, loses: ["reasoning"] },
};

for (const [name, way] of Object.entries(WAYS)) {
  suite(`three turns by ${name}`, () => {
    for (const { title, deliver, scene } of cases()) {
      test(title, () => threeTurns(way, deliver, scene));
    }
  });
}

for (const [name, way] of Object.entries(WAYS)) {
  breakingOff(name, async (tenant) => {
    const conversation = way.held === "conversation" ? await tenant.newConversation() : undefined;
    return keeping(tenant, way, "fake-model", conversation);
  });
}

async function threeTurns(way, deliver, scene) {
  const tenant = new Tenant();
  const conversation = way.held === "conversation" ? await tenant.newConversation() : undefined;
  const echo = newEcho();
  const ask = asking(tenant, way, deliver, scene, echo, conversation);

  const dialogue = await holdDialogue(scene, ask, echo);

  if (scene.model === "sim") return;
  await assertEachItemOnce(tenant, dialogue, way.loses);
  if (!conversation) return;
  await assertConversationHolds(tenant, conversation, dialogue);
  await assertOnlyNewIsSent(tenant, dialogue);
}

function asking(tenant, way, deliver, scene, echo, conversation) {
  const state = keeping(tenant, way, scene.model, conversation);

  return async (text) => {
    const answer = await deliver({ ...state.params(text), tools: echo.tools });
    state.accept(text, answer);
    return answer.text;
  };
}

/** What a turn is asked with, and what is kept of its answer. */
function keeping(tenant, way, model, conversation) {
  const provider = createOpenAI({ baseURL: tenant.baseURL, apiKey: tenant.apiKey });
  const history = [];
  let previousResponseId;
  const user = (content) => ({ role: "user", content });

  return {
    params: (said) => ({
      model: provider.responses(model),
      messages: way.sends === "all" ? [...history, user(said)] : [user(said)],
      providerOptions: { openai: { ...way.options, conversation, previousResponseId } },
    }),
    accept: (said, { messages, responseId }) => {
      history.push(user(said), ...messages);
      if (way.held === "chain") previousResponseId = responseId;
    },
  };
}
