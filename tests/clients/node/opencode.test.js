// opencode in front of the gateway: a dialogue, a command that runs, a session that is continued,
// and turns that are left.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { count, until, wellFormedRequests } from "./coding_agent.js";
import { FACT, RECALL, assertRecalled } from "./leaving.js";
import { Opencode } from "./opencode.js";

// The tool of opencode that runs a command; the model calls what the user names.
const COMMAND = "bash: echo hello | tee said.txt";
// A command outlives opencode: it ends with the directory of its test. The next prompt may repeat it,
// and then it ends at once.
const WAIT = "while test -e said.txt; do sleep 1; done";
const ASLEEP = `bash: test -e said.txt || { echo begun > said.txt; ${WAIT}; }`;

suite("opencode holds a dialogue", () => {
  for (const options of [{}, { model: "sim" }]) {
    test(JSON.stringify(options), () => withOpencode(options, holdsDialogue));
  }
});

suite("opencode goes on after a turn that is left", () => {
  test("in_text", () => withOpencode({}, goesOnAfterText));
  test("while a command runs", () => withOpencode({}, goesOnAfterCommand));
});

async function withOpencode(options, run) {
  const opencode = await Opencode.open(options);
  try {
    await run(opencode);
  } finally {
    await opencode.close();
  }
}

async function holdsDialogue(opencode) {
  await opencode.ask(FACT);
  const echoed = await opencode.ask(COMMAND);
  const recalled = await opencode.ask(RECALL);

  assert.match(echoed, /hello/);
  assert.equal(await opencode.read("said.txt"), "hello\n");
  assertRecalled(recalled);
  if (opencode.model === "sim") return;
  const requests = await wellFormedRequests(opencode);
  assert.equal(requests.length, 4);
  for (const text of [FACT, COMMAND, RECALL]) assert.equal(count(requests.at(-1), text), 1, text);
  const [call] = requests.at(-1).filter(({ type }) => type === "function_call");
  assert.equal(call.name, "bash");
}

async function goesOnAfterText(opencode) {
  await opencode.ask(FACT);
  await opencode.tenant.stopNextAnswer("in_text");
  const left = opencode.start("What is my dog name?");
  await until(async () => (await opencode.modelRequests()).length === 2);
  await left.kill();
  await goesOn(opencode);
}

async function goesOnAfterCommand(opencode) {
  await opencode.ask(FACT);
  const left = opencode.start(ASLEEP);
  await until(async () => (await opencode.read("said.txt").catch(() => "")) === "begun\n");
  await left.kill();
  await goesOn(opencode);
}

async function goesOn(opencode) {
  // What a turn that was left has asked for may be done now.
  await opencode.ask("Go on.");
  assertRecalled(await opencode.ask(RECALL));
  await wellFormedRequests(opencode);
}
