// The AI SDK as its tests use it: both versions, a tool, and the ways to get an answer.

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAIv3 } from "@ai-sdk/openai-v3";
import * as ai from "ai";
import * as aiv6 from "ai-v6";
import { z } from "zod";

// The SDK prints warnings; the tests look at them where they matter.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** The versions that a test runs with. */
export const VERSIONS = {
  "ai 7": { ...ai, createOpenAI, steps: ai.isStepCount },
  "ai 6": { ...aiv6, createOpenAI: createOpenAIv3, steps: aiv6.stepCountIs },
};

export const MODEL = "fake-model";
export const FACT = "My color is purple";
export const ECHO = "Echo hello";
export const RECALL = "What is my color?";

/** The tool `echo(text) -> text`. */
export function echoTool({ tool }) {
  return {
    echo: tool({
      description: "Says the text again.",
      inputSchema: z.object({ text: z.string() }),
      execute: async ({ text }) => text,
    }),
  };
}

/** What every call is made with. */
export function call(sdk, model, messages, openai = {}) {
  return {
    model,
    messages,
    tools: echoTool(sdk),
    stopWhen: sdk.steps(5),
    maxRetries: 0,
    providerOptions: { openai },
  };
}

/** An answer by `generateText`, as its text and its messages. */
export async function generated(sdk, options) {
  const result = await sdk.generateText(options);
  return {
    text: result.text,
    messages: result.response.messages ?? result.responseMessages,
    responseId: result.response.id,
    warnings: result.steps.flatMap((step) => step.warnings ?? []),
  };
}

/** The same by `streamText`. */
export async function streamed(sdk, options) {
  const failures = [];
  const result = sdk.streamText({ ...options, onError: ({ error }) => failures.push(error) });
  await result.consumeStream();
  if (failures.length > 0) throw failures[0];
  const response = await result.response;
  const steps = await result.steps;
  return {
    text: await result.text,
    messages: response.messages ?? (await result.responseMessages),
    responseId: response.id,
    warnings: steps.flatMap((step) => step.warnings ?? []),
  };
}

export const DELIVERIES = { generateText: generated, streamText: streamed };

export function user(content) {
  return { role: "user", content };
}
