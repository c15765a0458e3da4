// `antiphon run`: each coding agent in front of a gateway that the command starts, and which ends with
// it. The next turn of a session meets a new gateway.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { ClaudeCode } from "./claude_code.js";
import { Codex } from "./codex.js";
import { holdsDialogue, withAgent } from "./coding_dialogues.js";
import { GeminiCli } from "./gemini_cli.js";
import { Opencode } from "./opencode.js";

// Each agent, and its tool that runs a command.
const AGENTS = [
  [Codex, "exec_command"],
  [ClaudeCode, "Bash"],
  [GeminiCli, "run_shell_command"],
  // Its program is pinned for this platform only.
  ...(process.platform === "linux" && process.arch === "x64" ? [[Opencode, "bash"]] : []),
];

suite("antiphon run", () => {
  for (const [Agent, tool] of AGENTS) {
    test(Agent.name, () =>
      withAgent(Agent.open({ launched: true }), async (agent) => {
        await holdsDialogue(agent, `${tool}: echo hello | tee said.txt`);
        assert.equal(agent.runs.size, 3);
      }),
    );
  }
});
