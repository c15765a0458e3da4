// Runs the steps of a companion case through a `statefulFetch`, with its requests and its answers.

import assert from "node:assert/strict";

import { deliver, statefulFetch } from "antiphon";
import OpenAI from "openai";

import { assertNamed, assertWhole } from "./comparison.js";

const BASE = "http://provider.test/v1";
const NOTHING_DONE = { resent: 0, mends: [], byKind: false };

/** Runs all steps, and compares each result with the expected one. */
export async function runCompanion({ steps }) {
  const world = new World();
  for (const { do: name, with: given, gives, ...unknown } of steps) {
    assert.deepEqual(Object.keys(unknown), [], "fields of a step that are not known");
    assert.ok(STEPS.has(name), `"do": "${name}" is not known`);
    const gave = await world[name](given);
    if (gives !== undefined) (NAMED.has(name) ? assertNamed : assertWhole)(gave, gives);
  }
}

/** The steps whose results are compared by their expected fields. */
const NAMED = new Set(["report", "passed"]);

const STEPS = new Set([
  ...["open", "deliver", "touched", "answered", "refused", "begun", "heard", "ended", "left"],
  ...NAMED,
]);

/** A caller, a server, and the fetch between them. */
class World {
  #fetch = statefulFetch({
    fetch: (input, init) => this.#arrived(new Request(input, init)),
    onReport: (report) => (this.#report = report),
  });
  #report = NOTHING_DONE;
  /** The pending request at the server, and the function that answers it. */
  #waiting;
  /** Ends the wait for a request, or for the caller's answer. */
  #seen = () => {};
  #answer;
  #body;
  #passed = "";
  /** The path of the request that a turn or a delivery sends. */
  #sendsTo;

  async open(body) {
    this.#report = NOTHING_DONE;
    const init = { method: "POST", body: JSON.stringify(body) };
    const next = this.#next();
    this.#answer = this.#fetch(`${BASE}/responses`, init);
    this.#sendsTo = "/responses";
    this.#answer.then(() => this.#seen({}));
    return next;
  }

  async deliver({ conversation, items }) {
    this.#report = NOTHING_DONE;
    const client = new OpenAI({ baseURL: BASE, apiKey: "any", maxRetries: 0, fetch: this.#fetch });
    const next = this.#next();
    this.#answer = deliver(client, conversation, items).then((count) => Response.json(count));
    this.#sendsTo = `/conversations/${conversation}/items`;
    this.#answer.then(() => this.#seen({}));
    return next;
  }

  async touched(conversation) {
    const passing = this.#fetch(`${BASE}/conversations/${conversation}/items`, { method: "POST" });
    this.#waiting.resolve(Response.json({}));
    await passing;
  }

  answered({ status, body }) {
    return this.#reply(Response.json(body, { status }));
  }

  refused({ status, body }) {
    return this.#reply(Response.json(body, { status }));
  }

  async begun(isEventStream) {
    if (this.#body) return;
    const stream = new ReadableStream({ start: (controller) => (this.#body = controller) });
    const type = isEventStream ? "text/event-stream" : "application/json";
    const next = this.#reply(new Response(stream, { headers: { "content-type": type } }));
    // A delivery has an answer only after its body.
    if (this.#sendsTo === "/responses") await next;
  }

  heard(given) {
    const text = Array.isArray(given) ? given.map(asEvent).join("") : JSON.stringify(given);
    this.#body.enqueue(new TextEncoder().encode(text));
  }

  async ended() {
    this.#body.close();
    this.#body = undefined;
    this.#passed = await (await this.#answer).text();
    return "nothing";
  }

  /** The answer as its caller received it: events, or one object. */
  passed() {
    if (this.#passed.startsWith("{")) return JSON.parse(this.#passed);
    const events = this.#passed.match(/^data: .*$/gm) ?? [];
    return events.map((line) => JSON.parse(line.slice("data: ".length)));
  }

  async left() {
    this.#body = undefined;
    await (await this.#answer).body.cancel();
    return "nothing";
  }

  /** The caller receives the report with the answer. */
  async report() {
    if (this.#waiting) await this.begun(false);
    const { byKind, relearned = null, ...report } = this.#report;
    return { ...report, relearned, by_kind: byKind };
  }

  #arrived(request) {
    return new Promise((resolve) => {
      this.#waiting = { request, resolve };
      this.#seen({ request });
    });
  }

  #reply(response) {
    const next = this.#next();
    const { resolve } = this.#waiting;
    this.#waiting = undefined;
    resolve(response);
    return next;
  }

  /** The next step in the cases' format. */
  async #next() {
    const { request } = await new Promise((resolve) => (this.#seen = resolve));
    if (request === undefined) return (await this.#answer).ok ? "nothing" : "give_up";
    const body = request.body ? await request.clone().json() : undefined;
    const path = request.url.slice(BASE.length);
    if (request.method === "POST" && path === this.#sendsTo) return { send: body };
    return { ask: `${request.method} ${path}`, ...(body && { body }) };
  }
}

const asEvent = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
