// A dialogue whose second turn breaks off in the middle, and goes on: a fact, a turn that is left, a
// recall. The upstream stops its answer where the turn is to be left.

import assert from "node:assert/strict";

import { ON_ABORT } from "./context.js";

export const FACT = "My color is purple, dog is Biscuit";
export const ECHO = "Echo hello";
export const RECALL = "What is my color and dog name?";

const REASONS = (process.env.UPSTREAM_REASONS_UNASKED ?? "yes") === "yes";
const ENDS_CALLS = (process.env.UPSTREAM_ENDS_CALLS ?? "yes") === "yes";

/** Where a turn is left, what the user has said, and whether the output of its call comes late. */
export const MOMENTS = [
  ...(REASONS ? [{ place: "in_reasoning", said: ECHO }] : []),
  { place: "in_arguments", said: ECHO },
  { place: "in_arguments", said: ECHO, lateOutput: true },
  ...(ENDS_CALLS ? [{ place: "behind_call", said: ECHO }] : []),
  ...(ENDS_CALLS ? [{ place: "behind_call", said: ECHO, lateOutput: true }] : []),
  { place: "in_text", said: "What is my dog name?" },
];

export function titleOf({ place, lateOutput }) {
  return lateOutput ? `${place}, then its output` : place;
}

/** Whether this event of the Responses API is the first that tells of the moment. */
export function isToldBy({ type, item }, { place }) {
  switch (place) {
    case "in_reasoning":
      return /^response\.reasoning.*\.delta$/.test(type);
    case "in_arguments":
      return type === "response.function_call_arguments.delta";
    case "behind_call":
      return type === "response.output_item.done" && item.type === "function_call";
    default:
      return type === "response.output_text.delta";
  }
}

export function assertRecalled(text) {
  assert.match(text, /purple/);
  assert.match(text, /Biscuit/);
}

/**
 * No request was refused for good or repeated anything, each call has its output, and the last has
 * what the user said, once. An API may have joined what the user said. A provider that keeps nothing
 * of a turn that is left has no more of it than its client sends again.
 */
export async function assertGoneOn(tenant, said) {
  const requests = await tenant.modelRequests();
  assert.deepEqual(refusedForGood(requests), []);
  for (const { items } of requests) assertWellFormed(items);
  const users = requests.at(-1).items.filter(({ role }) => role === "user");
  const heard = users.map(textOf).join("");
  if (ON_ABORT === "nothing" && heard === said[0] + said.at(-1)) return;
  assert.equal(heard, said.join(""));
}

/**
 * The refusals. Where a provider keeps the state, one may be all that tells what it has: then the
 * gateway sends the turn once more.
 */
function refusedForGood(requests) {
  const isMended = (later) => ON_ABORT && later && !later.refusal;
  const refused = requests.filter(({ refusal }, at) => refusal && !isMended(requests[at + 1]));
  return refused.map(({ refusal }) => refusal);
}

function assertWellFormed(items) {
  const callIds = (type) => items.filter((item) => item.type === type).map((item) => item.call_id);
  const calls = callIds("function_call");
  assert.deepEqual(callIds("function_call_output").sort(), [...new Set(calls)].sort());
  const ids = items.flatMap(({ id }) => id ?? []);
  assert.deepEqual(ids, [...new Set(ids)]);
  assert.equal(calls.length, new Set(calls).size);
}

function textOf({ content }) {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}
