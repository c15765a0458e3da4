// The dialogues of a user with a coding agent. `command` and `asleep` are prompts that name a tool of
// the agent, which the model then calls: it writes `hello` to said.txt, or `begun` and then waits.

import assert from "node:assert/strict";

import { count, until, wellFormedRequests } from "./coding_agent.js";
import { FACT, RECALL, assertRecalled } from "./leaving.js";

/** Runs a test with an agent of its own. */
export async function withAgent(opened, run) {
  const agent = await opened;
  try {
    await run(agent);
  } finally {
    await agent.close();
  }
}

/** A fact, a command and a question in one session: each is said once, and the answers know it. */
export async function holdsDialogue(agent, command) {
  const [tool] = command.split(":");
  await agent.ask(FACT);
  const echoed = await agent.ask(command);
  const recalled = await agent.ask(RECALL);

  assert.match(echoed, /hello/);
  assert.equal(await agent.read("said.txt"), "hello\n");
  assertRecalled(recalled);
  if (agent.model === "sim") return;
  const requests = await wellFormedRequests(agent);
  assert.equal(requests.length, 4);
  for (const text of [FACT, command, RECALL]) assert.equal(count(requests.at(-1), text), 1, text);
  const [call] = requests.at(-1).filter(({ type }) => type === "function_call");
  assert.equal(call.name, tool);
}

/** The program ends while the model answers: in a text, or elsewhere while it calls a command. */
export async function goesOnAfter(agent, place, command) {
  await agent.ask(FACT);
  await agent.tenant.stopNextAnswer(place);
  const left = agent.start(place === "in_text" ? "What is my dog name?" : command);
  await until(async () => (await agent.modelRequests()).length === 2);
  await left.kill();
  await goesOn(agent);
}

/** The program ends while its command runs. */
export async function goesOnAfterCommand(agent, asleep) {
  await agent.ask(FACT);
  const left = agent.start(asleep);
  await agent.commandStarts(left);
  await until(async () => (await agent.read("said.txt").catch(() => "")) === "begun\n");
  await left.kill();
  await goesOn(agent);
}

async function goesOn(agent) {
  // What a turn that was left has asked for may be done now.
  await agent.ask("Go on.");
  assertRecalled(await agent.ask(RECALL));
  await wellFormedRequests(agent);
}
