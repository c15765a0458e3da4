// Claude Code in front of the gateway: a dialogue, tools that run, agents of its own, thinking, counts,
// compaction, turns that are left.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { ClaudeCode } from "./claude_code.js";
import { count, until, wellFormedRequests } from "./coding_agent.js";
import { FACT, RECALL, assertRecalled } from "./leaving.js";

const REASONS = (process.env.UPSTREAM_REASONS_UNASKED ?? "yes") === "yes";

// The tool of Claude Code that runs a command; the model calls what the user names.
const COMMAND = "Bash: echo hello | tee said.txt";
const ASLEEP = "Bash: echo begun > said.txt; sleep 60";

suite("Claude Code holds a dialogue", () => {
  for (const options of [{}, { thinkingTokens: 2000 }, { model: "sim" }]) {
    test(JSON.stringify(options), () => withClaudeCode(options, holdsDialogue));
  }
});

test("Claude Code gives work to an agent of its own", () => {
  return withClaudeCode({ model: "sim" }, async (claude) => {
    assert.match(await claude.ask("Agent: Look it up"), /Noted: Look it up/);
  });
});

test("Claude Code counts the tokens of its context", () => {
  return withClaudeCode({}, async (claude) => {
    await claude.ask(FACT);
    assert.match(await claude.ask("/context"), /\*\*Tokens:\*\* [\d.]+k? \/ 200k/);
  });
});

test("Claude Code compacts its history", () => {
  return withClaudeCode({ model: "sim" }, async (claude) => {
    await claude.ask(FACT);
    await claude.ask(COMMAND);
    await claude.ask("/compact");
    assert.match(await claude.ask("What did Bash return?"), /hello/);
  });
});

suite("Claude Code goes on after a turn that is left", () => {
  for (const place of [...(REASONS ? ["in_reasoning"] : []), "in_arguments", "in_text"]) {
    test(place, () => withClaudeCode({}, (claude) => goesOnAfter(claude, place)));
  }
  test("while a command runs", () => withClaudeCode({}, goesOnAfterCommand));
});

async function withClaudeCode(options, run) {
  const claude = await ClaudeCode.open(options);
  try {
    await run(claude);
  } finally {
    await claude.close();
  }
}

async function holdsDialogue(claude) {
  await claude.ask(FACT);
  const echoed = await claude.ask(COMMAND);
  const recalled = await claude.ask(RECALL);

  assert.match(echoed, /hello/);
  assert.equal(await claude.read("said.txt"), "hello\n");
  assertRecalled(recalled);
  if (claude.model === "sim") return;
  const requests = await wellFormedRequests(claude);
  assert.equal(requests.length, 4);
  for (const text of [FACT, COMMAND, RECALL]) assert.equal(count(requests.at(-1), text), 1, text);
  const [call] = requests.at(-1).filter(({ type }) => type === "function_call");
  assert.equal(call.name, "Bash");
}

async function goesOnAfter(claude, place) {
  await claude.ask(FACT);
  await claude.tenant.stopNextAnswer(place);
  const left = claude.start(place === "in_text" ? "What is my dog name?" : COMMAND);
  await until(async () => (await claude.modelRequests()).length === 2);
  await left.kill();

  // What a turn that was left has asked for may be done now.
  await claude.ask("Go on.");
  assertRecalled(await claude.ask(RECALL));
  await wellFormedRequests(claude);
}

async function goesOnAfterCommand(claude) {
  await claude.ask(FACT);
  const left = claude.start(ASLEEP);
  await until(async () => (await claude.read("said.txt").catch(() => "")) === "begun\n");
  await left.kill();

  // What a turn that was left has asked for may be done now.
  await claude.ask("Go on.");
  assertRecalled(await claude.ask(RECALL));
  await wellFormedRequests(claude);
}
