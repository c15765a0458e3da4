// Claude Code in front of the gateway: a dialogue, tools that run, agents of its own, thinking, counts,
// compaction, turns that are left.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { ClaudeCode } from "./claude_code.js";
import { count, wellFormedRequests } from "./coding_agent.js";
import { goesOnAfter, goesOnAfterCommand, holdsDialogue, withAgent } from "./coding_dialogues.js";
import { FACT } from "./leaving.js";

const REASONS = (process.env.UPSTREAM_REASONS_UNASKED ?? "yes") === "yes";

// The tool of Claude Code that runs a command; the model calls what the user names.
const COMMAND = "Bash: echo hello | tee said.txt";
const ASLEEP = "Bash: echo begun > said.txt; sleep 60";

suite("Claude Code holds a dialogue", () => {
  for (const options of [{}, { thinkingTokens: 2000 }, { model: "sim" }]) {
    test(JSON.stringify(options), () =>
      withClaudeCode(options, (claude) => holdsDialogue(claude, COMMAND)),
    );
  }
});

suite("Claude Code gives work to an agent of its own", () => {
  test("sim", () =>
    withClaudeCode({ model: "sim" }, async (claude) => {
      assert.match(await claude.ask("Agent: Look it up"), /Noted: Look it up/);
    }),
  );
  test("fake-model", () =>
    withClaudeCode({}, async (claude) => {
      assert.match(await claude.ask("Agent: Look it up"), /echo said: Noted\./);
      // One of the agent, which knows only its work, and two of the dialogue around it.
      const requests = await wellFormedRequests(claude);
      assert.deepEqual(requests.map((items) => count(items, "Agent: Look it up")), [1, 0, 1]);
      assert.equal(count(requests[1], "Look it up"), 1);
    }),
  );
});

test("Claude Code counts the tokens of its context", () => {
  return withClaudeCode({}, async (claude) => {
    await claude.ask(FACT);
    assert.match(await claude.ask("/context"), /\*\*Tokens:\*\* [\d.]+k? \/ 200k/);
  });
});

suite("Claude Code compacts its history", () => {
  test("sim", () =>
    withClaudeCode({ model: "sim" }, async (claude) => {
      await compact(claude);
      assert.match(await claude.ask("What did Bash return?"), /hello/);
    }),
  );
  test("fake-model", () =>
    withClaudeCode({}, async (claude) => {
      await compact(claude);
      await claude.ask("Go on.");
      const [summary, next] = (await wellFormedRequests(claude)).slice(-2);
      assert.equal(count(summary, FACT), 1);
      assert.equal(count(next, FACT), 0);
      assert.deepEqual(next.filter(({ type }) => type?.startsWith("function_call")), []);
    }),
  );
});

async function compact(claude) {
  await claude.ask(FACT);
  await claude.ask(COMMAND);
  await claude.ask("/compact");
}

suite("Claude Code goes on after a turn that is left", () => {
  for (const place of [...(REASONS ? ["in_reasoning"] : []), "in_arguments", "in_text"]) {
    test(place, () => withClaudeCode({}, (claude) => goesOnAfter(claude, place, COMMAND)));
  }
  test("while a command runs", () =>
    withClaudeCode({}, (claude) => goesOnAfterCommand(claude, ASLEEP)),
  );
});

function withClaudeCode(options, run) {
  return withAgent(ClaudeCode.open(options), run);
}
