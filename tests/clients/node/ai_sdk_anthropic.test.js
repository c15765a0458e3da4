// The AI SDK with its Anthropic provider, which keeps its history itself.

import { suite, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";

import { Tenant, assertConversationHolds, assertEachItemOnce } from "./context.js";
import { cases } from "./delivery.js";
import { holdDialogue, newEcho } from "./dialogue.js";

for (const way of ["replay", "conversation"]) {
  suite(`three turns by ${way}`, () => {
    for (const { title, deliver, scene } of cases()) {
      test(title, () => threeTurns(way, deliver, scene));
    }
  });
}

async function threeTurns(way, deliver, scene) {
  const tenant = new Tenant();
  const conversation = way === "conversation" ? await tenant.newConversation() : undefined;
  const echo = newEcho();
  const headers = conversation ? { "antiphon-conversation": conversation } : {};
  const { baseURL, apiKey } = tenant;
  const model = createAnthropic({ baseURL, apiKey, headers })(scene.model);
  const history = [];
  const ask = async (text) => {
    history.push({ role: "user", content: text });
    const { text: answer, messages } = await deliver({
      model,
      messages: history,
      tools: echo.tools,
    });
    history.push(...messages);
    return answer;
  };

  const dialogue = await holdDialogue(scene, ask, echo);

  if (scene.model === "sim") return;
  await assertEachItemOnce(tenant, dialogue);
  if (conversation) await assertConversationHolds(tenant, conversation, dialogue);
}
