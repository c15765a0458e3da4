// Gemini CLI in front of the gateway: a dialogue, tools that run, its choice of a model, a session that is
// resumed, and turns that are left.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { GeminiCli } from "./gemini_cli.js";
import { count, until, wellFormedRequests } from "./coding_agent.js";
import { FACT, RECALL, assertRecalled } from "./leaving.js";

// The tool of Gemini CLI that runs a command; the model calls what the user names.
const COMMAND = "run_shell_command: echo hello | tee said.txt";
// The next prompt may repeat the command, which then ends at once.
const ASLEEP = "run_shell_command: test -e said.txt || { echo begun > said.txt; sleep 60; }";

suite("Gemini CLI holds a dialogue", () => {
  for (const options of [{}, { model: "sim" }]) {
    test(JSON.stringify(options), () => withGeminiCli(options, holdsDialogue));
  }
});

test("Gemini CLI asks the model for a choice in JSON", () => {
  return withGeminiCli({ model: "sim", routes: true }, async (gemini) => {
    assert.notEqual(await gemini.ask(FACT), "");
  });
});

suite("Gemini CLI goes on after a turn that is left", () => {
  test("in_text", () => withGeminiCli({}, goesOnAfterText));
  test("while a command runs", () => withGeminiCli({}, goesOnAfterCommand));
});

async function withGeminiCli(options, run) {
  const gemini = await GeminiCli.open(options);
  try {
    await run(gemini);
  } finally {
    await gemini.close();
  }
}

async function holdsDialogue(gemini) {
  await gemini.ask(FACT);
  const echoed = await gemini.ask(COMMAND);
  const recalled = await gemini.ask(RECALL);

  assert.match(echoed, /hello/);
  assert.equal(await gemini.read("said.txt"), "hello\n");
  assertRecalled(recalled);
  if (gemini.model === "sim") return;
  const requests = await wellFormedRequests(gemini);
  assert.equal(requests.length, 4);
  for (const text of [FACT, COMMAND, RECALL]) assert.equal(count(requests.at(-1), text), 1, text);
  const [call] = requests.at(-1).filter(({ type }) => type === "function_call");
  assert.equal(call.name, "run_shell_command");
}

async function goesOnAfterText(gemini) {
  await gemini.ask(FACT);
  await gemini.tenant.stopNextAnswer("in_text");
  const left = gemini.start("What is my dog name?");
  await until(async () => (await gemini.modelRequests()).length === 2);
  await left.kill();
  await goesOn(gemini);
}

async function goesOnAfterCommand(gemini) {
  await gemini.ask(FACT);
  const left = gemini.start(ASLEEP);
  await until(async () => (await gemini.read("said.txt").catch(() => "")) === "begun\n");
  await left.kill();
  await goesOn(gemini);
}

async function goesOn(gemini) {
  // What a turn that was left has asked for may be done now.
  await gemini.ask("Go on.");
  assertRecalled(await gemini.ask(RECALL));
  await wellFormedRequests(gemini);
}
