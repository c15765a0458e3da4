// What the model was given, request by request, and what it must have been given.
//
// The provider keeps every request that it received. A client that answers well may still have made
// the model read an item twice, so the suites look at the requests, not only at the answers.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { basename } from "node:path";

const TIMEOUT = 10_000;

// The suite that runs, which is in the keys of its tenants.
const SUITE = basename(process.argv[1]);

// The suites ask for no reasoning: what there is of it is what the model does by itself.
const REASONS = (process.env.UPSTREAM_REASONS_UNASKED ?? "yes") === "yes";

/** What becomes of a turn that is left, at a provider that keeps the state; else empty. */
export const ON_ABORT = process.env.UPSTREAM_ON_ABORT ?? "";

/** One caller of the gateway, alone with its key: what bears the key is this test's. */
export class Tenant {
  baseURL = process.env.ANTIPHON_BASE_URL;
  apiKey = `sk-clients-${SUITE}-${randomUUID()}`;

  /**
   * Every request for an answer on behalf of this tenant, in order: the items that it brought, and
   * those that the model was given, which are more where the provider has some already.
   */
  async modelRequests() {
    const log = new URL("/log", process.env.UPSTREAM_URL);
    log.searchParams.set("token", this.apiKey);
    const entries = await this.fetch(log);
    return entries.filter(asksTheModel).map(({ body, given, refusal }) => {
      const sent = inputItems(body);
      return { sent, items: given ?? sent, refusal };
    });
  }

  /** Has the model stop its next answer in the middle, until its reader leaves. */
  async stopNextAnswer(place) {
    const hold = new URL("/hold", process.env.UPSTREAM_URL);
    hold.search = new URLSearchParams({ token: this.apiKey, at: place });
    const response = await fetch(hold, { method: "POST", signal: AbortSignal.timeout(TIMEOUT) });
    assert.ok(response.ok, `${hold} answered ${response.status}`);
  }

  /** The id of a conversation made for this tenant. */
  async newConversation() {
    const url = `${this.baseURL}/conversations`;
    const conversation = await this.fetch(url, { method: "POST", body: "{}" });
    return conversation.id;
  }

  /** What the gateway holds of a conversation, oldest first. */
  async conversationItems(id) {
    const url = `${this.baseURL}/conversations/${id}/items?order=asc&limit=100`;
    return (await this.fetch(url)).data;
  }

  async fetch(url, options = {}) {
    const headers = {
      authorization: `Bearer ${this.apiKey}`,
      "content-type": "application/json",
    };
    const signal = AbortSignal.timeout(TIMEOUT);
    const response = await fetch(url, { ...options, headers, signal });
    assert.ok(response.ok, `${url} answered ${response.status}`);
    return response.json();
  }
}

/**
 * The model got four requests, each with the conversation so far and every item of it once.
 *
 * `without` names kinds that the client keeps from a server which holds no state for it: their
 * absence is the client's doing.
 */
export async function assertEachItemOnce(tenant, dialogue, without = []) {
  const requests = await tenant.modelRequests();
  const refusals = requests.map(({ refusal }) => refusal).filter(Boolean);
  assert.deepEqual(refusals, []);
  const kept = (kinds) => kinds.filter((k) => !without.includes(k));
  assert.deepEqual(
    requests.map(({ items }) => kept(items.map(kind))),
    wholeContexts(dialogue.calls).map(kept),
  );
  for (const { items } of requests) assertItems(items, dialogue);
}

/** Where the provider keeps the conversation, a request brings what it does not have. */
export async function assertOnlyNewIsSent(tenant, { calls }) {
  if (!ON_ABORT) return;
  const requests = await tenant.modelRequests();
  const outputs = Array(calls).fill("function_call_output");
  const sent = requests.map((request) => request.sent.map(kind));
  assert.deepEqual(sent, [["user"], ["user"], outputs, ["user"]]);
}

/** The gateway holds the conversation, the last answer too, every item once and finished. */
export async function assertConversationHolds(tenant, conversation, dialogue) {
  const items = await tenant.conversationItems(conversation);
  assert.deepEqual(items.map(kind), [...wholeContexts(dialogue.calls).at(-1), "assistant"]);
  assertItems(items, dialogue);
  for (const { status } of items) assert.equal(status ?? "completed", "completed");
}

/** The kinds of items in each of the four requests, where the tool turn makes `calls` calls. */
function wholeContexts(calls) {
  const times = (kind) => Array(calls).fill(kind);
  const fact = ["user"];
  const echo = [...fact, "assistant", "user"];
  const reasoning = REASONS ? ["reasoning"] : [];
  const step = [...reasoning, ...times("function_call"), ...times("function_call_output")];
  const outputs = [...echo, ...step];
  const recall = [...outputs, "assistant", "user"];
  return [fact, echo, outputs, recall];
}

/** Nothing is there twice, texts are what was said in its order, and outputs answer their calls. */
function assertItems(items, { said, answers }) {
  assertDistinct(items.flatMap(({ id }) => id ?? []));
  assertDistinct(items.flatMap((i) => (i.call_id ? `${i.type} ${i.call_id}` : [])));
  const texts = (of) => items.filter((i) => kind(i) === of).map((i) => textOf(i.content));
  const [users, assistants] = [texts("user"), texts("assistant")];
  assert.deepEqual(users, said.slice(0, users.length));
  assert.deepEqual(assistants, answers.slice(0, assistants.length));
  assertOutputsAnswerCalls(items);
}

function assertOutputsAnswerCalls(items) {
  const calls = items.filter((i) => i.type === "function_call");
  const outputs = items.filter((i) => i.type === "function_call_output");
  assert.deepEqual(
    outputs.map((output) => output.call_id),
    calls.slice(0, outputs.length).map((call) => call.call_id),
  );
  for (const { output } of outputs) assert.match(textOf(output), /hello/);
}

function assertDistinct(keys) {
  assert.deepEqual(keys, [...new Set(keys)]);
}

/** Whether an entry of the provider's log is a request for an answer. */
function asksTheModel({ method = "POST", path = "/v1/responses" }) {
  return method === "POST" && path === "/v1/responses";
}

/** The input as items: a bare string is one user message. */
function inputItems({ input = [] }) {
  return typeof input === "string" ? [{ role: "user", content: input }] : input;
}

/** A message's role, any other item's type. */
function kind({ type = "message", role }) {
  return type === "message" ? role : type;
}

function textOf(content) {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}
