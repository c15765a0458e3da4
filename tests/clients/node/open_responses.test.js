// The AI SDK with its Open Responses provider, which leaves no state with a server: every turn is a
// full replay.

import { suite, test } from "node:test";
import { createOpenResponses } from "@ai-sdk/open-responses";

import { Tenant, assertEachItemOnce } from "./context.js";
import { cases } from "./delivery.js";
import { holdDialogue, newEcho } from "./dialogue.js";

suite("three turns by replay", () => {
  for (const { title, deliver, scene } of cases()) {
    test(title, () => threeTurns(deliver, scene));
  }
});

async function threeTurns(deliver, scene) {
  const tenant = new Tenant();
  const echo = newEcho();

  const dialogue = await holdDialogue(scene, asking(tenant, deliver, scene, echo), echo);

  if (scene.model !== "sim") await assertEachItemOnce(tenant, dialogue);
}

function asking(tenant, deliver, scene, echo) {
  const url = `${tenant.baseURL}/responses`;
  const provider = createOpenResponses({ name: "antiphon", url, apiKey: tenant.apiKey });
  const messages = [];

  return async (text) => {
    messages.push({ role: "user", content: text });
    const answer = await deliver({ model: provider(scene.model), tools: echo.tools, messages });
    messages.push(...answer.messages);
    return answer.text;
  };
}
