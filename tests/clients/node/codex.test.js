// Codex in front of the gateway: a dialogue, tools that run, sessions that go on, compaction, turns
// that are left.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { Codex, OPENAI, OWN_PROVIDER } from "./codex.js";
import { count, wellFormedRequests } from "./coding_agent.js";
import { goesOnAfter, goesOnAfterCommand, holdsDialogue, withAgent } from "./coding_dialogues.js";
import { FACT, RECALL, assertRecalled } from "./leaving.js";

const SHORT = process.env.ANTIPHON_CLIENTS === "short";
const REASONS = (process.env.UPSTREAM_REASONS_UNASKED ?? "yes") === "yes";

// The tool of Codex that runs a command; the model calls what the user names.
const COMMAND = "exec_command: echo hello | tee said.txt";
const ASLEEP = "exec_command: echo begun > said.txt; sleep 60";
// A tool within a namespace, which other APIs do not have.
const REPEAT = "mcp__parrot__repeat: hello";
// A model of which Codex knows that it can search for tools: Codex declares no others of its servers.
const SEARCHING_MODEL = "gpt-5.5";
const SEARCH = "tool_search: repeat a text";

suite("Codex holds a dialogue", () => {
  for (const websockets of [false, true]) {
    for (const model of SHORT ? ["fake-model"] : ["fake-model", "sim"]) {
      const title = `${websockets ? "over a WebSocket" : "over HTTP"} with ${model}`;
      test(title, () =>
        withCodex({ websockets, model }, (codex) => holdsDialogue(codex, COMMAND)),
      );
    }
  }
});

suite("Codex calls a tool of a namespace", () => {
  for (const model of ["fake-model", "sim"]) {
    test(model, () => withCodex({ model }, callsNamespacedTool));
  }
});

test("Codex searches for tools and calls one that it found", () =>
  withCodex({ model: SEARCHING_MODEL }, findsTool),
);

suite("Codex compacts its history", () => {
  for (const provider of [OWN_PROVIDER, OPENAI]) {
    test(`of ${provider}`, () => withCodex({ provider }, compacts));
  }
});

suite("Codex goes on after a turn that is left", () => {
  const places = [...(REASONS ? ["in_reasoning"] : []), "in_arguments", "in_text"];
  for (const place of places) {
    test(place, () => withCodex({}, (codex) => goesOnAfter(codex, place, COMMAND)));
  }
  test("in a WebSocket", () => {
    return withCodex({ websockets: true }, (codex) => goesOnAfter(codex, "in_text", COMMAND));
  });
  test("while a command runs", () =>
    withCodex({}, (codex) => goesOnAfterCommand(codex, ASLEEP)),
  );
});

function withCodex(options, run) {
  return withAgent(Codex.open(options), async (codex) => {
    await run(codex);
    assert.equal(codex.wire.upgrades > 0, Boolean(options.websockets || codex.provider === OPENAI));
  });
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

async function findsTool(codex) {
  const found = await codex.ask(SEARCH);
  const answer = await codex.ask(REPEAT);

  assert.match(found, /mcp__parrot__repeat/);
  assert.match(answer, /parrot says/);
  const requests = await wellFormedRequests(codex);
  assert.equal(requests.length, 4);
  const kinds = requests.at(-1).map(({ type }) => type);
  const isSearch = (kind) => kind.startsWith("tool_search") || kind.startsWith("function_call");
  assert.equal(kinds.filter((kind) => kind && isSearch(kind)).length, 4, String(kinds));
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
