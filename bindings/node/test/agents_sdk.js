// Agents, tools and texts for the tests of the OpenAI Agents SDK.

import * as sdk from "@openai/agents";
import assert from "node:assert/strict";
import { statefulFetch } from "antiphon";
import * as agents from "antiphon/openai-agents";
import OpenAI from "openai";
import { z } from "zod";

sdk.setTracingDisabled(true);

export const FACT = "My color is purple, dog is Biscuit";
export const ECHO = "Echo hello";
export const ECHO_TWICE = "Echo hello twice";
export const RECALL = "What is my color and dog name?";
export const RECALLED = "purple, Biscuit";

export const UNANSWERED = /No tool output found for function call/;

/** The unmodified SDK. */
export const plain = () => new sdk.Runner(providing(new OpenAI({ maxRetries: 0 })));

/** The package's runner, with a client that uses `statefulFetch`. */
export const stateful = () => new agents.Runner(providing(statefulClient()));

/** The SDK's runner, with a client that uses `statefulFetch`. */
export const statefulFetchOnly = () => new sdk.Runner(providing(statefulClient()));

export const statefulClient = () =>
  new OpenAI({ maxRetries: 0, fetch: statefulFetch({ onReport: () => {} }) });

export function providing(openAIClient) {
  return { modelProvider: new sdk.OpenAIProvider({ openAIClient }) };
}

/** The ways to run an agent: at once, or as a stream that is read to its end. */
export const DELIVERIES = {
  run: (runner, agent, input, options) => runner.run(agent, input, options),
  stream: async (runner, agent, input, options) => {
    const result = await runner.run(agent, input, { ...options, stream: true });
    for await (const _ of result);
    return result;
  },
};

/** An agent with the tool `echo(text) -> text`, whose errors end the run. */
export function echoing(options = {}) {
  const { execute, needsApproval, ...rest } = options;
  const tools = [echoTool(execute, { needsApproval })];
  return new sdk.Agent({ name: "echoing", model: "fake-model", tools, ...rest });
}

export function echoTool(execute = ({ text }) => text, options = {}) {
  return sdk.tool({
    name: "echo",
    description: "Says the text again.",
    parameters: z.object({ text: z.string() }),
    execute: async (input, _context, details) => execute(input, details),
    errorFunction: null,
    ...options,
  });
}

export function failing({ text }) {
  throw new Error(`the tool failed: ${text}`);
}

/** A tool that works only once. */
export function onceThenFailing() {
  let hasWorked = false;
  return ({ text }) => {
    if (hasWorked) failing({ text });
    hasWorked = true;
    return "hello";
  };
}

/** The texts of call outputs, in order. */
export function outputs(items) {
  return items.filter(({ type }) => type === "function_call_output").map(({ output }) => output);
}

/** The provider rejected no request, and the model read no item twice. */
export async function assertNoFaults(provider) {
  assert.deepEqual(await provider.refusals(), []);
  assert.deepEqual(await provider.twice(), []);
}
