// Codex in front of the gateway: a dialogue, tools that run, sessions that go on, compaction, turns
// that are left.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { Codex, OPENAI, OWN_PROVIDER } from "./codex.js";
import { count, until, wellFormedRequests } from "./coding_agent.js";
import { FACT, RECALL, assertRecalled } from "./leaving.js";

const SHORT = process.env.ANTIPHON_CLIENTS === "short";
const REASONS = (process.env.UPSTREAM_REASONS_UNASKED ?? "yes") === "yes";

// The tool of Codex that runs a command; the model calls what the user names.
const COMMAND = "exec_command: echo hello | tee said.txt";
const ASLEEP = "exec_command: echo begun > said.txt; sleep 60";
// A tool within a namespace, which other APIs do not have.
const REPEAT = "mcp__parrot__repeat: hello";

suite("Codex holds a dialogue", () => {
  for (const websockets of [false, true]) {
    for (const model of SHORT ? ["fake-model"] : ["fake-model", "sim"]) {
      const title = `${websockets ? "over a WebSocket" : "over HTTP"} with ${model}`;
      test(title, () => withCodex({ websockets, model }, holdsDialogue));
    }
  }
});

suite("Codex calls a tool of a namespace", () => {
  for (const model of ["fake-model", "sim"]) {
    test(model, () => withCodex({ model }, callsNamespacedTool));
  }
});

suite("Codex compacts its history", () => {
  for (const provider of [OWN_PROVIDER, OPENAI]) {
    test(`of ${provider}`, () => withCodex({ provider }, compacts));
  }
});

suite("Codex goes on after a turn that is left", () => {
  const places = [...(REASONS ? ["in_reasoning"] : []), "in_arguments", "in_text"];
  for (const place of places) {
    test(place, () => withCodex({}, (codex) => goesOnAfter(codex, place)));
  }
  test("in a WebSocket", () => {
    return withCodex({ websockets: true }, (codex) => goesOnAfter(codex, "in_text"));
  });
  test("while a command runs", () => withCodex({}, goesOnAfterCommand));
});

async function withCodex(options, run) {
  const codex = await Codex.open(options);
  try {
    await run(codex);
    assert.equal(codex.wire.upgrades > 0, Boolean(options.websockets || codex.provider === OPENAI));
  } finally {
    await codex.close();
  }
}

async function holdsDialogue(codex) {
  await codex.ask(FACT);
  const echoed = await codex.ask(COMMAND);
  const recalled = await codex.ask(RECALL);

  assert.match(echoed, /hello/);
  assert.equal(await codex.read("said.txt"), "hello\n");
  assertRecalled(recalled);
  if (codex.model === "sim") return;
  const requests = await wellFormedRequests(codex);
  assert.equal(requests.length, 4);
  for (const text of [FACT, COMMAND, RECALL]) assert.equal(count(requests.at(-1), text), 1, text);
  const [call] = requests.at(-1).filter(({ type }) => type === "function_call");
  assert.equal(call.name, "exec_command");
}

async function callsNamespacedTool(codex) {
  const answer = await codex.ask(REPEAT);

  assert.match(answer, /parrot says/);
  if (codex.model === "sim") return;
  const requests = await wellFormedRequests(codex);
  const [call] = requests.at(-1).filter(({ type }) => type === "function_call");
  const named = call.namespace ? `${call.namespace}__${call.name}` : call.name;
  assert.equal(named, "mcp__parrot__repeat");
}

/** The second turn begins with a compaction, after which only the user's messages are left. */
async function compacts(codex) {
  await codex.ask(FACT);
  const recalled = await codex.ask(RECALL, { model_auto_compact_token_limit: 1 });
  const echoed = await codex.ask(COMMAND);

  assertRecalled(recalled);
  assert.match(echoed, /hello/);
  const requests = await wellFormedRequests(codex);
  const compacted = requests.find((items) => count(items, RECALL));
  assert.ok(requests.indexOf(compacted) > 1, "the model was asked for no summary");
  assert.equal(count(compacted, FACT), 1);
  const answers = compacted.filter(({ role }) => role === "assistant");
  assert.deepEqual(answers, [], "the answer before the compaction is still there");
}

async function goesOnAfter(codex, place) {
  await codex.ask(FACT);
  await codex.tenant.stopNextAnswer(place);
  const left = codex.start(place === "in_text" ? "What is my dog name?" : COMMAND);
  await until(async () => (await codex.modelRequests()).length === 2);
  await left.kill();

  // What a turn that was left has asked for may be done now.
  await codex.ask("Go on.");
  assertRecalled(await codex.ask(RECALL));
  await wellFormedRequests(codex);
}

async function goesOnAfterCommand(codex) {
  await codex.ask(FACT);
  const left = codex.start(ASLEEP);
  await left.event(({ type, item }) => type === "item.started" && item.type === "command_execution");
  await until(async () => (await codex.read("said.txt").catch(() => "")) === "begun\n");
  await left.kill();

  // What a turn that was left has asked for may be done now.
  await codex.ask("Go on.");
  assertRecalled(await codex.ask(RECALL));
  await wellFormedRequests(codex);
}
