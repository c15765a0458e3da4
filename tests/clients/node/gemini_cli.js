// Gemini CLI, as its npm package brings it: one user with a home, a working directory and a tenant of its
// own. `gemini --prompt` says a prompt, and writes an event a line.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { CodingAgent } from "./coding_agent.js";

const PROGRAM = fileURLToPath(
  new URL("node_modules/@google/gemini-cli/bundle/gemini.js", import.meta.url),
);

const FLAGS = [
  ...["--output-format", "stream-json"],
  // The commands of the tests are their own.
  ...["--yolo", "--skip-trust"],
];

/** One user of Gemini CLI, alone with its files and its key. `close` it at the end. */
export class GeminiCli extends CodingAgent {
  static async open(options = {}) {
    const gemini = new GeminiCli(await mkdtemp(join(tmpdir(), "gemini-cli-")), options);
    await gemini.writeSettings();
    if (gemini.launched) await gemini.install();
    return gemini;
  }

  constructor(files, options) {
    const defaults = { model: "fake-model", routes: false, home: join(files, "home") };
    super(files, { ...defaults, ...options, name: "gemini", program: PROGRAM });
  }

  /** Chooses the login by key. With `routes`, Gemini CLI asks the model which model to ask. */
  async writeSettings() {
    const everyModel = { match: { model: "base" }, modelConfig: { model: this.model } };
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      modelConfigs: { customOverrides: [everyModel] },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, maxAttempts: 1 },
    };
    await mkdir(join(this.home, ".gemini"), { recursive: true, mode: 0o700 });
    await writeFile(join(this.home, ".gemini", "settings.json"), JSON.stringify(settings));
  }

  /** Says a prompt in this user's only session, and returns the answer. */
  async ask(prompt) {
    const { status, events, errors } = await this.start(prompt).ended;
    const result = events.find(({ type }) => type === "result");
    assert.ok(result, errors);
    assert.equal(result.status, "success", JSON.stringify(result));
    assert.equal(status, 0, errors);
    const said = events.filter(({ type, role }) => type === "message" && role === "assistant");
    return said.map(({ content }) => content).join("");
  }

  /** Starts a turn. Its events arrive one by one. */
  start(prompt) {
    const session = this.runs.size > 0 ? ["--resume", "latest"] : [];
    return this.run([...FLAGS, ...session, "--prompt", prompt]);
  }

  settings() {
    return {
      GOOGLE_GEMINI_BASE_URL: new URL(this.tenant.baseURL).origin,
      GEMINI_API_KEY: this.tenant.apiKey,
      ...(this.routes ? {} : { GEMINI_MODEL: this.model }),
    };
  }

  variables() {
    // Its process starts another one to give it more memory, which outlives a signal.
    return { GEMINI_CLI_NO_RELAUNCH: "true" };
  }
}
