// The two ways in which the AI SDK delivers an answer, each with its own tool loop.

import assert from "node:assert/strict";
import { generateText, streamText } from "ai";

import { endOf, isStepCount, partsOf } from "./ai_versions.js";
import { SCENES } from "./dialogue.js";

// The SDK warns of reasoning that it cannot replay; the suites name what is lost where it is.
globalThis.AI_SDK_LOG_WARNINGS = false;

const SHORT = process.env.ANTIPHON_CLIENTS === "short";
const TIMEOUT = 20_000;
const MAX_STEPS = 5;

// What fails is seen: no retries, and no step without its end.
const bounds = () => ({
  maxRetries: 0,
  stopWhen: isStepCount(MAX_STEPS),
  abortSignal: AbortSignal.timeout(TIMEOUT),
});

async function generated(call) {
  const result = await generateText({ ...call, ...bounds() });
  const { finalStep, messages } = await endOf(result);
  assert.equal(result.finishReason, "stop");
  return { text: result.text, messages, responseId: finalStep.response.id };
}

async function streamed(call) {
  const result = streamText({ ...call, ...bounds(), onError: () => {} });
  let pieces = "";
  for await (const part of partsOf(result)) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") pieces += part.text;
  }
  const { finalStep, messages } = await endOf(result);
  assert.equal(await result.finishReason, "stop");
  assert.equal(pieces, finalStep.text);
  return { text: finalStep.text, messages, responseId: finalStep.response.id };
}

/** Each takes what `generateText` takes: the answer, the new messages, the last response's id. */
const DELIVERIES = { generateText: generated, streamText: streamed };

/** Every delivery with every scene; in a short run, only streams meet scenes beyond the first. */
export function cases() {
  return Object.entries(DELIVERIES).flatMap(([delivery, deliver]) =>
    Object.entries(SCENES)
      .filter(([name]) => !SHORT || name === "one_call" || deliver === streamed)
      .map(([name, scene]) => ({ title: `${delivery} ${name}`, deliver, scene })),
  );
}
