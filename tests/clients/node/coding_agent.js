// Coding agents: runs of their programs, and the requests that their model was given.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

import { Tenant } from "./context.js";

// One run of a program, and what a test waits for in it.
const RUN_TIMEOUT = 45_000;

// What a test waits for outside of a program.
const TIMEOUT = 10_000;
const POLL = 50;

/** One run of a program that writes an event a line. */
class Run {
  constructor(child, onEvent) {
    this.child = child;
    this.events = [];
    this.errors = "";
    this.waiting = [];
    child.stderr.on("data", (text) => (this.errors += text));
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      const event = JSON.parse(line);
      onEvent(event);
      this.events.push(event);
      this.waiting = this.waiting.filter(({ isIt, resolve }) => !isIt(event) || resolve(event));
    });
    const timeout = setTimeout(() => this.kill(), RUN_TIMEOUT);
    this.ended = Promise.all([once(child, "exit"), once(lines, "close")]).then(([[status]]) => {
      clearTimeout(timeout);
      for (const { reject } of this.waiting) reject(new Error(`the program ended: ${this.errors}`));
      return { status, events: this.events, errors: this.errors };
    });
  }

  /** The first event that is meant. Fails if the program ends without it. */
  async event(isIt) {
    const arrived = this.events.find(isIt);
    if (arrived) return arrived;
    return new Promise((resolve, reject) => this.waiting.push({ isIt, resolve, reject }));
  }

  /** Ends the program and what it has started, as closing its terminal does. */
  async kill() {
    try {
      process.kill(-this.child.pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
    await this.ended;
  }
}

/**
 * One user of a coding agent, alone with its files and its key. `close` it at the end.
 *
 * A class for an agent has its `name`, its `program` (a file that Node or the system can run), and the
 * variables that every run has: `variables`, and for the gateway of the suite `settings`. With
 * `launched`, `antiphon run` starts the agent with a gateway of its own in front of the upstream.
 */
export class CodingAgent {
  constructor(files, settings) {
    Object.assign(this, { files, home: files, ...settings, tenant: new Tenant() });
    this.runs = new Set();
  }

  /** Starts the agent's program in the working directory. */
  run(args, onEvent = () => {}) {
    const [program, ...first] = this.launched ? this.launcher() : this.command();
    const child = spawn(program, [...first, ...args], {
      cwd: this.files,
      env: this.env(),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const run = new Run(child, onEvent);
    this.runs.add(run);
    return run;
  }

  command() {
    return this.program.endsWith(".js") ? [process.execPath, this.program] : [this.program];
  }

  launcher() {
    const upstream = new URL("/v1", process.env.UPSTREAM_URL).href;
    const options = ["--upstream", upstream, "--model", this.model];
    return [process.env.ANTIPHON, "run", this.name, ...options, "--"];
  }

  /** Puts the program under its name into a directory of the search path, as an installation does. */
  async install() {
    await mkdir(this.programs(), { recursive: true });
    await symlink(this.program, join(this.programs(), this.name));
  }

  programs() {
    return join(this.files, "programs");
  }

  env() {
    const own = { HOME: this.home, NO_PROXY: "127.0.0.1", ...this.variables() };
    if (!this.launched) return { PATH: process.env.PATH, ...own, ...this.settings() };
    const path = [this.programs(), dirname(process.execPath), process.env.PATH].join(":");
    // A gateway without a key forwards the agent's.
    const key = this.tenant.apiKey;
    return { PATH: path, ...own, OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key };
  }

  variables() {
    return {};
  }

  /** The requests that its model was given. */
  async modelRequests() {
    return this.tenant.modelRequests();
  }

  /** Waits for the event of a run that says that its command runs. Not every agent writes one. */
  async commandStarts() {}

  /** What a command has written to a file of the working directory. */
  async read(name) {
    return readFile(join(this.files, name), "utf8");
  }

  async close() {
    for (const run of this.runs) await run.kill();
    await rm(this.files, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What the model was given in each request: nothing was refused, and each output has its call. */
export async function wellFormedRequests(agent) {
  const requests = await agent.modelRequests();
  const refusals = requests.flatMap(({ refusal }) => refusal ?? []);
  assert.deepEqual(refusals, []);
  for (const { items } of requests) {
    const callIds = (type) => items.filter((i) => i.type === type).map((i) => i.call_id);
    assert.deepEqual(callIds("function_call_output"), callIds("function_call"));
    const ids = items.flatMap(({ id }) => id ?? []);
    assert.deepEqual(ids, [...new Set(ids)]);
  }
  return requests.map(({ items }) => items);
}

/** How often the user says this text in a request. An API joins what is said one after another. */
export function count(items, text) {
  const said = items.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
  return said.join("\n").split(text).length - 1;
}

function textOf(content) {
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");
}

/** Waits for a condition outside of a program. */
export async function until(isSo) {
  const deadline = performance.now() + TIMEOUT;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, "it has not come in time");
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
}
