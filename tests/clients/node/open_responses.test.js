// The AI SDK with its Open Responses provider, which leaves no state with a server: every turn is a
// full replay.

import { suite, test } from "node:test";
import { createOpenResponses } from "@ai-sdk/open-responses";

import { breakingOff } from "./ai_leaving.js";
import { Tenant, assertEachItemOnce } from "./context.js";
import { cases } from "./delivery.js";
import { holdDialogue, newEcho } from "./dialogue.js";

suite("three turns by replay", () => {
  for (const { title, deliver, scene } of cases()) {
    test(title, () => threeTurns(deliver, scene));
  }
});

breakingOff("replay", async (tenant) => keeping(tenant, "fake-model"));

async function threeTurns(deliver, scene) {
  const tenant = new Tenant();
  const echo = newEcho();

  const dialogue = await holdDialogue(scene, asking(tenant, deliver, scene, echo), echo);

  if (scene.model !== "sim") await assertEachItemOnce(tenant, dialogue);
}

function asking(tenant, deliver, scene, echo) {
  const state = keeping(tenant, scene.model);

  return async (text) => {
    const answer = await deliver({ ...state.params(text), tools: echo.tools });
    state.accept(text, answer);
    return answer.text;
  };
}

/** What a turn is asked with, and what is kept of its answer. */
function keeping(tenant, model) {
  const url = `${tenant.baseURL}/responses`;
  const provider = createOpenResponses({ name: "antiphon", url, apiKey: tenant.apiKey });
  const history = [];
  const user = (content) => ({ role: "user", content });

  return {
    params: (said) => ({ model: provider(model), messages: [...history, user(said)] }),
    accept: (said, { messages }) => history.push(user(said), ...messages),
  };
}
