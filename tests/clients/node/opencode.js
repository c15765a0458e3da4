// opencode, as its npm package brings it: one user with a home, a working directory and a tenant of
// its own. `opencode run` says a prompt, and writes an event a line.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { CodingAgent } from "./coding_agent.js";

// The program is in a package for the platform. The main package's own script would only copy it.
// This one also runs on processors without AVX2.
const PROGRAM = fileURLToPath(
  new URL("node_modules/opencode-linux-x64-baseline/bin/opencode", import.meta.url),
);

// The library for plugins, which opencode installs from a registry unless this lock file has it.
const PLUGINS = { packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } };

const FLAGS = [
  ...["--format", "json"],
  // Without a title, opencode asks the model for one beside the first turn.
  ...["--title", "A test"],
];

/** One user of opencode, alone with its files and its key. `close` it at the end. */
export class Opencode extends CodingAgent {
  static async open(options = {}) {
    const opencode = new Opencode(await mkdtemp(join(tmpdir(), "opencode-")), options);
    await opencode.standInForPlugins();
    if (opencode.launched) await opencode.install();
    return opencode;
  }

  constructor(files, options) {
    const defaults = { model: "fake-model", home: join(files, "home") };
    super(files, { ...defaults, ...options, name: "opencode", program: PROGRAM });
  }

  /** Keeps opencode from a registry: it finds the library for its plugins installed. */
  async standInForPlugins() {
    const config = join(this.home, ".config", "opencode");
    await mkdir(join(config, "node_modules"), { recursive: true });
    await writeFile(join(config, "package-lock.json"), JSON.stringify(PLUGINS));
  }

  /** Says a prompt in this user's only session, and returns the answer. */
  async ask(prompt) {
    const { status, events, errors } = await this.start(prompt).ended;
    const failures = events.filter(({ type }) => type === "error");
    assert.deepEqual(failures, [], errors);
    assert.equal(status, 0, errors);
    const said = events.flatMap(({ type, part }) => (type === "text" ? [part.text] : []));
    return said.join("");
  }

  /** Starts a turn. Its events arrive one by one. */
  start(prompt) {
    const session = this.runs.size > 0 ? ["--continue"] : [];
    // opencode puts an argument with spaces in quotes.
    const words = prompt.split(" ");
    return this.run(["run", ...FLAGS, ...session, "--", ...words]);
  }

  /** The settings of `antiphon run opencode`, and no services of other hosts. */
  config() {
    return {
      provider: {
        antiphon: {
          npm: "@ai-sdk/openai",
          name: "Antiphon",
          options: { baseURL: this.tenant.baseURL, apiKey: this.tenant.apiKey },
          models: { [this.model]: { name: this.model } },
        },
      },
      model: `antiphon/${this.model}`,
      enabled_providers: ["antiphon"],
      autoupdate: false,
      share: "disabled",
    };
  }

  settings() {
    return { OPENCODE_CONFIG_CONTENT: JSON.stringify(this.config()) };
  }

  variables() {
    return {
      // The list of models of all providers is on another host.
      OPENCODE_DISABLE_MODELS_FETCH: "true",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "true",
    };
  }
}
