// The AI SDK with its Open Responses provider, which leaves no state with a server: every turn is a
// full replay.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createOpenResponses } from "@ai-sdk/open-responses";
import { generateText } from "ai";

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

// This client takes errors whose fields are all strings, and tells of others by their status alone.
// They are the gateway's own.
if (process.env.HAS_GATEWAY === "yes") {
  suite("errors keep their message", () => {
    const refusals = {
      "with a code and a param": [{ temperature: 3 }, /Invalid 'temperature': decimal above/],
      "with neither": [{ headers: { "idempotency-key": "k".repeat(256) } }, /longer than 255 bytes/],
    };
    for (const [title, [options, message]] of Object.entries(refusals)) {
      test(title, async () => {
        const { params } = keeping(new Tenant(), "sim");
        await assert.rejects(generateText({ ...params("Hello"), ...options }), message);
      });
    }
  });
}

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
