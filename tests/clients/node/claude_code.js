// Claude Code, as its npm package brings it: one user with a home, a working directory and a tenant of
// its own. `claude --print` says a prompt, and writes an event a line.

import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { CodingAgent } from "./coding_agent.js";

// The program is in a package for the platform. The main package's own script would only link to it.
const PACKAGE = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;
const PROGRAM = fileURLToPath(new URL(`node_modules/${PACKAGE}/claude`, import.meta.url));

const FLAGS = [
  ...["--print", "--output-format", "stream-json", "--verbose"],
  // The commands of the tests are their own.
  "--dangerously-skip-permissions",
];

/** One user of Claude Code, alone with its files and its key. `close` it at the end. */
export class ClaudeCode extends CodingAgent {
  static async open(options = {}) {
    const claude = new ClaudeCode(await mkdtemp(join(tmpdir(), "claude-code-")), options);
    if (claude.launched) await claude.install();
    return claude;
  }

  constructor(files, options) {
    const defaults = { model: "fake-model", thinkingTokens: 0 };
    super(files, { ...defaults, ...options, name: "claude", program: PROGRAM });
  }

  /** Says a prompt in this user's only session, and returns the result. */
  async ask(prompt) {
    const { status, events, errors } = await this.start(prompt).ended;
    const result = events.find(({ type }) => type === "result");
    assert.ok(result, errors);
    assert.equal(result.is_error, false, result.result);
    assert.equal(status, 0, errors);
    return result.result;
  }

  /** Starts a turn. Its events arrive one by one. */
  start(prompt) {
    const session = this.runs.size > 0 ? ["--continue"] : [];
    return this.run([...session, ...FLAGS, prompt]);
  }

  /**
   * The requests that its model was given. Claude Code first sends a message of the system among the
   * others, and without it after the refusal of an API that does not know it.
   */
  async modelRequests() {
    const requests = await super.modelRequests();
    return requests.filter(({ refusal }) => !refusal?.message.includes('Unexpected role "system"'));
  }

  settings() {
    return {
      ANTHROPIC_BASE_URL: new URL("/", this.tenant.baseURL).href.replace(/\/$/, ""),
      ANTHROPIC_AUTH_TOKEN: this.tenant.apiKey,
      ANTHROPIC_MODEL: this.model,
      ANTHROPIC_SMALL_FAST_MODEL: this.model,
    };
  }

  variables() {
    return {
      MAX_THINKING_TOKENS: String(this.thinkingTokens),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      DISABLE_AUTOUPDATER: "1",
      // The tests may run as root.
      IS_SANDBOX: "1",
    };
  }
}
