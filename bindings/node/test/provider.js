// A strict provider with state for one test: `antiphon mock` (see docs/mock.md).

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

const TIMEOUT = 10_000;
const READY_TIMEOUT = 30_000;
const READY = /listening on (http:\/\/\S+\/v1)/;

// Environment variables that would change the behaviour of the clients.
const FOREIGN = ["OPENAI_", "AZURE_"];

/**
 * A strict provider for one test. Clients with default settings use it. A failed test prints its
 * requests.
 *
 * `onAbort`: the stored part of an abandoned turn: "part", "whole" or "nothing". `profile`: "openai",
 * "azure" or "open-responses". `script`: answers that come before the model's own.
 */
export async function startProvider(t, { onAbort = "part", profile = "openai", script } = {}) {
  const args = ["mock", "--listen", "127.0.0.1:0", "--seed", "tests"];
  args.push("--on-abort", onAbort, "--profile", profile);
  if (script) args.push("--script", await scriptFile(t, script));
  const child = spawn(antiphon(), args, { stdio: ["ignore", "pipe", "pipe"] });
  let provider;
  t.after(async () => {
    if (provider && !t.passed) t.diagnostic(accountOf(await provider.log()));
    await ended(child);
  });
  provider = new Provider(await readyUrl(child));
  setEnvironment(provider);
  return provider;
}

/** The provider at `url`, and its records for callers with `key`. */
export class Provider {
  key = "sk-tests";

  constructor(url) {
    this.url = url;
  }

  /** The base URL of its log and its controls. */
  get root() {
    return new URL(this.url).origin;
  }

  /** All requests so far: the entries of `GET /log`. */
  log() {
    return fetched(`${this.root}/log`);
  }

  /** The log entries of all turns, including rejected ones. */
  async requests() {
    return (await this.log()).filter(isRequestForAnswer);
  }

  /** The model's input in each accepted turn, oldest item first. */
  async turns() {
    return (await this.#answered()).map((entry) => entry.given);
  }

  /** The `input` of each accepted turn, as it was received. */
  async sent() {
    return (await this.#answered()).map((entry) => entry.body.input);
  }

  /** The duplicates in the model's input, of all turns. */
  async twice() {
    return (await this.requests()).flatMap((entry) => entry.twice);
  }

  /** The error messages of all rejected requests. */
  async refusals() {
    return (await this.log()).flatMap(({ refusal }) => (refusal ? [refusal.message] : []));
  }

  /** Creates a conversation with these items. Returns its id. */
  async newConversation(items) {
    const body = JSON.stringify(items ? { items } : {});
    return (await this.#asked("conversations", { method: "POST", body })).id;
  }

  /** The stored items of a conversation, oldest first. */
  async items(conversation) {
    const path = `conversations/${encodeURIComponent(conversation)}/items?order=asc&limit=100`;
    return (await this.#asked(path)).data;
  }

  /** Stops the next streamed answer at a place until the reader disconnects. */
  hold(place) {
    return this.#tell("hold", { token: this.key, at: place });
  }

  /** Waits until the provider has ended every turn, also those of callers that disconnected. */
  idle() {
    return this.#tell("idle", {});
  }

  /** Changes the part of an abandoned turn that is stored: "part", "whole" or "nothing". */
  onAbort(outcome) {
    return this.#tell("on-abort", { outcome });
  }

  /** Makes the provider forget a response, as if it had expired. */
  lose(response) {
    return this.#tell("lose", { response });
  }

  async #answered() {
    return (await this.requests()).filter(({ refusal }) => !refusal);
  }

  #asked(path, options) {
    const headers = { authorization: `Bearer ${this.key}`, "content-type": "application/json" };
    return fetched(`${this.url}/${path}`, { ...options, headers });
  }

  #tell(what, query) {
    return fetched(`${this.root}/${what}?${new URLSearchParams(query)}`, { method: "POST" });
  }
}

/** A line for each request: path, status, the model's input, the rejection. */
export function accountOf(log) {
  return log.map(lineOf).join("\n");
}

function lineOf({ method, path, status, given, refusal, twice }) {
  const refused = refusal ? `  REFUSED: ${refusal.message}` : "";
  const doubled = twice.length ? `  TWICE: ${twice.join(", ")}` : "";
  return `${method} ${path} ${status} ${(given ?? []).map(kind).join(" ")}${refused}${doubled}`;
}

/** The role of a message, or the type of another item. */
export function kind({ type = "message", role }) {
  return type === "message" ? role : type;
}

function isRequestForAnswer({ method, path }) {
  return method === "POST" && path === "/v1/responses";
}

/** The program: from ANTIPHON_BIN, else from the PATH, else from the cargo build. */
function antiphon() {
  const named = process.env.ANTIPHON_BIN;
  if (named) return named;
  const places = (process.env.PATH ?? "").split(delimiter).map((place) => join(place, "antiphon"));
  const target = process.env.CARGO_TARGET_DIR ?? join(import.meta.dirname, "../../../target");
  return places.find((place) => existsSync(place)) ?? join(target, "debug", "antiphon");
}

/** The address in the readiness line. Throws with the other output if there is none. */
function readyUrl(child) {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stdout });
    let complaints = "";
    child.stderr.on("data", (text) => (complaints += text));
    const late = () => reject(new Error(`antiphon was not ready in ${READY_TIMEOUT} ms`));
    const timer = setTimeout(late, READY_TIMEOUT);
    const settled = (settle) => (value) => {
      clearTimeout(timer);
      settle(value);
    };
    lines.on("line", (line) => READY.test(line) && settled(resolve)(READY.exec(line)[1]));
    child.on("error", settled(reject));
    child.on("exit", () => settled(reject)(new Error(`antiphon was not ready: ${complaints}`)));
  });
}

async function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null || !child.pid) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}

async function scriptFile(t, script) {
  const directory = await mkdtemp(join(tmpdir(), "antiphon-test-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, "script.json");
  await writeFile(file, JSON.stringify(script));
  return file;
}

/** Sets the environment so that clients use this provider. */
function setEnvironment({ url, key }) {
  for (const name of Object.keys(process.env)) {
    if (FOREIGN.some((prefix) => name.startsWith(prefix))) delete process.env[name];
  }
  Object.assign(process.env, { OPENAI_BASE_URL: url, OPENAI_API_KEY: key });
}

async function fetched(url, options = {}) {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(TIMEOUT) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}
