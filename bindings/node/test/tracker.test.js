// The tracker in JavaScript. tests/behaviour covers its decisions.

import assert from "node:assert/strict";
import test from "node:test";

import { AntiphonError, Tracker } from "antiphon";

const QUESTION = { role: "user", content: "Weather?" };
const CALL = { type: "function_call", id: "fc_1", call_id: "call_1", name: "x", arguments: "{}" };
const OUTPUT = { type: "function_call_output", call_id: "call_1", output: "sunny" };

test("items are sent once as the same objects", () => {
  const tracker = new Tracker({ conversation: "conv_1" });
  const [question] = tracker.add([QUESTION]);
  assert.equal(tracker.plan().items[0].item, QUESTION);
  tracker.accept(tracker.send([question]), { id: "resp_1", output: [CALL] });
  tracker.add([OUTPUT]);

  const { items, leftOut, conversation } = tracker.plan();
  assert.deepEqual(items.map(({ item }) => item), [OUTPUT]);
  assert.equal(items[0].item, OUTPUT);
  assert.deepEqual(leftOut, [{ occurrence: question, reason: "accepted" }]);
  assert.equal(conversation, "conv_1");
  assert.deepEqual(tracker.standing(question), { standing: "accepted" });
  assert.equal(tracker.turns, 1);
});

test("failed items are sent again", () => {
  const tracker = new Tracker({ autoPreviousResponseId: true });
  const occurrences = tracker.add([QUESTION]);
  const attempt = tracker.send(occurrences);
  assert.deepEqual(tracker.plan().items, []);
  assert.deepEqual(tracker.rewind(attempt), occurrences);
  assert.equal(tracker.plan().items[0].item, QUESTION);
});

test("a tracker can be restored from JSON", () => {
  const tracker = new Tracker({ previousResponseId: "resp_1" });
  const attempt = tracker.send(tracker.add([QUESTION]));
  const restored = Tracker.fromJSON(JSON.parse(JSON.stringify(tracker)));
  restored.accept(attempt, { id: "resp_2", output: [CALL] });

  assert.equal(restored.previousResponseId, "resp_2");
  assert.deepEqual(restored.unresolved().calls.map(({ call_id }) => call_id), ["call_1"]);
  assert.equal(tracker.previousResponseId, "resp_1");
});

test("invalid calls are rejected without changes", () => {
  const tracker = new Tracker({ conversation: "conv_1" });
  assert.throws(() => tracker.rewind(7), (error) => {
    assert.ok(error instanceof AntiphonError);
    assert.equal(error.code, "not_in_flight");
    return true;
  });
  assert.throws(() => new Tracker({}), { code: "no_server_state" });
  assert.throws(() => new Tracker({ conversationId: "conv_1" }), { name: "TypeError", code: "options" });
  assert.throws(() => Tracker.fromJSON("{}"), { code: "snapshot" });
  tracker.finish();
  assert.ok(tracker.isFinished);
  assert.throws(() => tracker.add([QUESTION]), { code: "finished" });
});

test("a failed response keeps its input", () => {
  const tracker = new Tracker({ conversation: "conv_1" });
  const occurrences = tracker.add([QUESTION]);
  const attempt = tracker.send(occurrences);
  const failed = { id: "resp_1", status: "failed", output: [], error: { message: "Overloaded." } };
  assert.throws(() => tracker.accept(attempt, failed), { name: "AntiphonError", code: "failed" });
  assert.throws(() => tracker.accept(attempt, {}), { name: "TypeError", code: "unreadable" });
  assert.deepEqual(tracker.rewind(attempt), occurrences);
  assert.equal(tracker.plan().items[0].item, QUESTION);
});
