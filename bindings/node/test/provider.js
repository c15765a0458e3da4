// A strict provider with state, for a test alone: `antiphon sim --strict`, as docs/sim.md has it.

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

// Settings that a shell may hold for these clients, and that must not reach them.
const FOREIGN = ["OPENAI_", "AZURE_"];

/**
 * A strict provider that ends with the test, at which a client that is told nothing else arrives.
 * A test that fails shows what it was asked.
 *
 * `onAbort`: what is kept of a turn whose caller leaves: "part", "whole" or "nothing". `profile`:
 * "openai", "azure" or "open-responses". `script`: answers before the model goes on by itself.
 */
export async function startProvider(t, { onAbort = "part", profile = "openai", script } = {}) {
  const args = ["sim", "--strict", "--listen", "127.0.0.1:0"];
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

/** The provider at `url`, and what it says of its callers that bear `key`. */
export class Provider {
  key = "sk-tests";

  constructor(url) {
    this.url = url;
  }

  /** Where it is asked for its log and told what to do. */
  get root() {
    return new URL(this.url).origin;
  }

  /** Every request so far, whoever made it: the entries of `GET /log`. */
  log() {
    return fetched(`${this.root}/log`);
  }

  /** Every request for an answer, refused or not: their entries of the log. */
  async requests() {
    return (await this.log()).filter(isRequestForAnswer);
  }

  /** What the model was given in each turn that was not refused, oldest item first. */
  async turns() {
    return (await this.#answered()).map((entry) => entry.given);
  }

  /** The `input` of each turn that was not refused, as it came. */
  async sent() {
    return (await this.#answered()).map((entry) => entry.body.input);
  }

  /** What the model was given twice in one turn, of all turns. */
  async twice() {
    return (await this.requests()).flatMap((entry) => entry.twice);
  }

  /** The messages of all refusals, of turns and of what else was asked. */
  async refusals() {
    return (await this.log()).flatMap(({ refusal }) => (refusal ? [refusal.message] : []));
  }

  /** The id of a conversation that was made with these items. */
  async newConversation(items) {
    const body = JSON.stringify(items ? { items } : {});
    return (await this.#asked("conversations", { method: "POST", body })).id;
  }

  /** What the provider keeps of a conversation, oldest first. */
  async items(conversation) {
    const path = `conversations/${encodeURIComponent(conversation)}/items?order=asc&limit=100`;
    return (await this.#asked(path)).data;
  }

  /** Has it stop the next streamed answer at a place, until the reader leaves. */
  hold(place) {
    return this.#tell("hold", { token: this.key, at: place });
  }

  /** Changes what is kept of turns whose callers leave: "part", "whole" or "nothing". */
  onAbort(outcome) {
    return this.#tell("on-abort", { outcome });
  }

  /** Has it forget a response, as if it had expired. */
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

/** A line for each request: its place, its status, what the model was given, the refusal. */
export function accountOf(log) {
  return log.map(lineOf).join("\n");
}

function lineOf({ method, path, status, given, refusal, twice }) {
  const refused = refusal ? `  REFUSED: ${refusal.message}` : "";
  const doubled = twice.length ? `  TWICE: ${twice.join(", ")}` : "";
  return `${method} ${path} ${status} ${(given ?? []).map(kind).join(" ")}${refused}${doubled}`;
}

/** A message's role, any other item's type. */
export function kind({ type = "message", role }) {
  return type === "message" ? role : type;
}

function isRequestForAnswer({ method, path }) {
  return method === "POST" && path === "/v1/responses";
}

/** The program: what ANTIPHON_BIN names, else on the PATH, else what cargo built. */
function antiphon() {
  const named = process.env.ANTIPHON_BIN;
  if (named) return named;
  const places = (process.env.PATH ?? "").split(delimiter).map((place) => join(place, "antiphon"));
  const target = process.env.CARGO_TARGET_DIR ?? join(import.meta.dirname, "../../../target");
  return places.find((place) => existsSync(place)) ?? join(target, "debug", "antiphon");
}

/** The address in the readiness line; what else is printed is read, and shown if there is none. */
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

/** Clients find this provider, and meet no settings for other servers. */
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
