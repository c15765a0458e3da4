// What JSON cannot carry is named, with its place.

import assert from "node:assert/strict";
import test from "node:test";

import { check, reconcile, repair } from "antiphon";

const message = (content) => ({ role: "user", content });
const cycle = message("hi");
cycle.metadata = { back: { to: cycle } };

const LOST = [
  [[message(1n)], "items[0].content: JSON cannot carry a bigint."],
  [[message("hi"), message(() => {})], "items[1].content: JSON cannot carry a function."],
  [[message(Symbol("hi"))], "items[0].content: JSON cannot carry a symbol."],
  [[message([{ type: "input_text", logprobs: [NaN] }])], "items[0].content[0].logprobs[0]: JSON cannot carry NaN."],
  [[message("hi"), undefined], "items[1]: JSON cannot carry undefined in an array."],
  [[cycle], "items[0].metadata.back.to: JSON cannot carry what contains itself."],
  ["hi", "items: an array of items is needed, not a string."],
  [{ length: 1 }, "items: an array of items is needed, not an object."],
  [[7], "items: item 0: expected an object, but got an integer instead"],
  [[message("hi"), []], /^items: item 1: /],
];

for (const [items, expected] of LOST) {
  test(String(expected), () => {
    const error = { name: "TypeError", message: expected };
    assert.throws(() => check(items), error);
    assert.throws(() => repair(items), error);
    assert.throws(() => reconcile([], items), error);
  });
}

test("what is held is named as such", () => {
  assert.throws(() => check([], { held: [message(1n)] }), /^TypeError: held\[0\]\.content/);
  assert.throws(() => reconcile([message(1n)], []), /^TypeError: held\[0\]\.content/);
});

test("a field that is undefined is not there", () => {
  assert.deepEqual(check([{ ...message("hi"), id: undefined }]), []);
});

test("an object that stands in two places does not contain itself", () => {
  const content = [{ type: "input_text", text: "hi" }];
  assert.deepEqual(check([message(content), message(content)]), []);
});

test("what has a form of its own for JSON has that", () => {
  const item = { toJSON: () => message("hi") };
  const { items } = repair([item]);
  assert.equal(items[0], item);
});

test("text outside ASCII comes back as it was", () => {
  const call = { type: "function_call", call_id: "ü\u{1F600}", name: "x", arguments: "{}" };
  const { items } = repair([message("ß\ud800"), call]);
  assert.equal(items[0].content, "ß\ud800");
  assert.equal(items[1], call);
  assert.equal(items[2].call_id, call.call_id);
});
