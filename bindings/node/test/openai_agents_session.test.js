// Sessions of the OpenAI Agents SDK, for histories that the program stores.

import * as sdk from "@openai/agents";
import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { repairedSession } from "antiphon/openai-agents";
import OpenAI from "openai";

import {
  ECHO,
  FACT,
  RECALL,
  RECALLED,
  assertNoFaults,
  echoing,
  outputs,
  plain,
  stateful,
} from "./agents_sdk.js";
import { startProvider } from "./provider.js";

const SESSIONS = {
  memory: () => new sdk.MemorySession({ sessionId: "the only one" }),
  conversation: () => new sdk.OpenAIConversationsSession({ client: new OpenAI() }),
};

/** Removes an answer, the output and the call, but not the reasoning before the call. */
async function undoHalfOfATurn(session) {
  for (let count = 0; count < 3; count += 1) await session.popItem();
}

/** Repeats the last write, as after a lost answer. */
async function addTheLastTurnAgain(session) {
  await session.addItems((await session.getItems()).slice(-4));
}

const CASES = {
  "reasoning without the item after it": [
    undoHalfOfATurn,
    /of type 'reasoning' was provided without its required following item/,
  ],
  "items that are there twice": [addTheLastTurnAgain, /Duplicate item found with id/],
};

/** A fact, a call, a change of the session, a recall. */
async function threeTurns(session, change, runner = plain()) {
  for (const text of [FACT, ECHO]) await runner.run(echoing(), text, { session });
  await change(session);
  return (await runner.run(echoing(), RECALL, { session })).finalOutput;
}

for (const [kind, newSession] of Object.entries(SESSIONS)) {
  for (const [name, [change, refusal]] of Object.entries(CASES)) {
    suite(`${kind}: ${name}`, () => {
      test("without the package is rejected", async (t) => {
        await startProvider(t);
        await assert.rejects(threeTurns(newSession(), change), refusal);
      });

      test("with the package is repaired", async (t) => {
        const provider = await startProvider(t);
        const recalled = await threeTurns(repairedSession(newSession()), change);
        assert.equal(recalled, RECALLED);
        await assertNoFaults(provider);
      });
    });
  }

  test(`${kind}: the package's runner in a repaired session`, async (t) => {
    const provider = await startProvider(t);
    const session = repairedSession(newSession());
    const agent = echoing({ toolUseBehavior: "stop_on_first_tool" });
    const runner = stateful();
    for (const text of [FACT, ECHO]) await runner.run(agent, text, { session });
    assert.equal((await runner.run(agent, RECALL, { session })).finalOutput, RECALLED);
    assert.deepEqual(outputs((await provider.turns()).at(-1)), ["hello"]);
    await assertNoFaults(provider);
  });
}

const said = (content) => ({ type: "message", role: "user", content });

function answered(text, id) {
  const content = [{ type: "output_text", text }];
  return { type: "message", role: "assistant", status: "completed", content, ...(id && { id }) };
}

function called(id, args = "{}") {
  const call = { type: "function_call", callId: "call_0", name: "echo", arguments: args };
  return { ...call, status: "completed", ...(id && { id }) };
}

function output(text) {
  const result = { type: "function_call_result", callId: "call_0", name: "echo" };
  return { ...result, status: "completed", output: { type: "text", text } };
}

/** The items that a session stores of turns. */
async function stored(turns) {
  const session = new sdk.MemorySession();
  for (const turn of turns) await repairedSession(session).addItems(turn);
  return session.getItems();
}

test("stored items do not change", async () => {
  const session = new sdk.MemorySession();
  await session.addItems([{ type: "reasoning", id: "rs_1", content: [] }]);
  assert.deepEqual(await repairedSession(session).getItems(), []);
  assert.equal((await session.getItems()).length, 1);
});

test("faultless items are read as they are", async () => {
  const items = [said("Echo"), called("fc_1"), output("1"), answered("Done.", "msg_1")];
  const session = new sdk.MemorySession({ initialItems: items });
  assert.deepEqual(await repairedSession(session).getItems(), items);
});

test("repeated user messages are stored", async () => {
  const turns = [[said("yes")], [answered("Noted.")], [said("yes")], [answered("Noted again.")]];
  assert.deepEqual(await stored(turns), turns.flat());
});

for (const [name, turns] of Object.entries({
  answers: [[answered("One.", "FAKE_ID")], [answered("Two.", "FAKE_ID")]],
  "other calls": [[called(), output("1")], [called(undefined, '{"again":1}'), output("2")]],
  "other outputs": [[called(), output("1")], [called(), output("2")]],
})) {
  test(`items without ids are stored: ${name}`, async () => {
    const all = turns.map((turn) => [said("Go on"), ...turn]);
    assert.deepEqual(await stored(all), all.flat());
  });
}

test("a write that is repeated stores only what is new", async () => {
  const first = [said("Go on"), called("fc_1"), output("1")];
  const kept = await stored([first, [...first.slice(1), answered("Done.", "msg_1")]]);
  assert.deepEqual(kept, [...first, answered("Done.", "msg_1")]);
});

test("repairs are warnings without message text", async () => {
  const warnings = [];
  process.on("warning", ({ code, message }) => warnings.push([code, message]));
  const initialItems = [answered("Secret.", "msg_1"), called("fc_1")];
  await repairedSession(new sdk.MemorySession({ initialItems })).getItems();
  await new Promise(setImmediate);
  const message = "A session was repaired when it was read: unanswered_call dropped";
  assert.deepEqual(warnings.at(-1), ["ANTIPHON_MENDED", message]);
});

test("everything else comes from the wrapped session", async () => {
  const session = repairedSession(new sdk.MemorySession({ sessionId: "the only one" }));
  assert.equal(await session.getSessionId(), "the only one");
  assert.equal(session.sessionId, "the only one");
  assert.ok(session instanceof sdk.MemorySession);
  assert.ok("applyHistoryTransaction" in session);
  await session.addItems([said("Hello")]);
  assert.deepEqual(await session.popItem(), said("Hello"));
});

test("other values are not sessions", () => {
  for (const given of [undefined, null, "user-17", sdk.MemorySession]) {
    assert.throws(() => repairedSession(given), /^TypeError: session: must be a session of the/);
  }
});
