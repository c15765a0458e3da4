// Helpers for tests of the AI SDK: both versions, a tool, and the ways to get an answer.

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAIv3 } from "@ai-sdk/openai-v3";
import * as ai from "ai";
import * as aiv6 from "ai-v6";
import { stateful } from "antiphon/ai-sdk";
import { z } from "zod";

// The SDK prints warnings. Tests check them if necessary.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** The SDK versions of a test. */
export const VERSIONS = {
  "ai 7": { ...ai, createOpenAI, steps: ai.isStepCount },
  "ai 6": { ...aiv6, createOpenAI: createOpenAIv3, steps: aiv6.stepCountIs },
};

export const MODEL = "fake-model";
export const FACT = "My color is purple";
export const ECHO = "Echo hello";
export const RECALL = "What is my color?";

/** The provider's model. */
export function bare({ createOpenAI }) {
  return createOpenAI().responses(MODEL);
}

/** The model with the middleware. */
export function wrapped(sdk, options = {}) {
  return sdk.wrapLanguageModel({ model: bare(sdk), middleware: stateful(options) });
}

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

/** The common options of all calls. */
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

/** An answer of `generateText`: its text and its messages. */
export async function generated(sdk, options) {
  const result = await sdk.generateText(options);
  return {
    text: result.text,
    messages: result.responseMessages ?? result.response.messages,
    responseId: result.response.id,
    warnings: result.steps.flatMap((step) => step.warnings ?? []),
  };
}

/** An answer of `streamText`. */
export async function streamed(sdk, options) {
  const failures = [];
  const result = sdk.streamText({ ...options, onError: ({ error }) => failures.push(error) });
  await result.consumeStream();
  if (failures.length > 0) throw failures[0];
  const response = await result.response;
  const steps = await result.steps;
  return {
    text: await result.text,
    messages: (await result.responseMessages) ?? response.messages,
    responseId: response.id,
    warnings: steps.flatMap((step) => step.warnings ?? []),
  };
}

export const DELIVERIES = { generateText: generated, streamText: streamed };

/** Calls `ask` until the conversation is no longer locked by an abandoned turn. */
export async function onceFree(ask) {
  const deadline = Date.now() + 10_000;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!/Another process/.test(error.message) || Date.now() > deadline) throw error;
    }
  }
}

export function user(content) {
  return { role: "user", content };
}

/** Reads an answer up to a place, and stops. */
export async function leave(sdk, options, place) {
  const leaving = new AbortController();
  const abortSignal = leaving.signal;
  const result = sdk.streamText({ ...options, abortSignal, includeRawChunks: true, onError() {} });
  for await (const { type, rawValue } of result.stream ?? result.fullStream) {
    if (type === "raw" && IS_AT[place](rawValue)) leaving.abort();
  }
}

/** The event that shows that an answer has reached a place. */
const IS_AT = {
  in_reasoning: ({ type }) => /^response\.reasoning.*\.delta$/.test(type),
  in_arguments: ({ type }) => type === "response.function_call_arguments.delta",
  behind_call: ({ type, item }) =>
    type === "response.output_item.done" && item.type === "function_call",
  in_text: ({ type }) => type === "response.output_text.delta",
};
