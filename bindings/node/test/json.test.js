// Values that JSON cannot express are named with their path.

import assert from "node:assert/strict";
import test from "node:test";

import { check, reconcile, repair } from "antiphon";

const message = (content) => ({ role: "user", content });
const cycle = message("hi");
cycle.metadata = { back: { to: cycle } };

const LOST = [
  [[message(1n)], "items[0].content: JSON cannot express a bigint."],
  [[message("hi"), message(() => {})], "items[1].content: JSON cannot express a function."],
  [[message(Symbol("hi"))], "items[0].content: JSON cannot express a symbol."],
  [[message([{ type: "input_text", logprobs: [NaN] }])], "items[0].content[0].logprobs[0]: JSON cannot express NaN."],
  [[message("hi"), undefined], "items[1]: JSON cannot express undefined in an array."],
  [[cycle], "items[0].metadata.back.to: JSON cannot express a value that contains itself."],
  ["hi", "items: must be an array of items, not a string."],
  [{ length: 1 }, "items: must be an array of items, not an object."],
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

test("errors name the argument held", () => {
  assert.throws(() => check([], { held: [message(1n)] }), /^TypeError: held\[0\]\.content/);
  assert.throws(() => reconcile([message(1n)], []), /^TypeError: held\[0\]\.content/);
});

test("undefined fields are left out", () => {
  assert.deepEqual(check([{ ...message("hi"), id: undefined }]), []);
});

test("a shared object is not recursive", () => {
  const content = [{ type: "input_text", text: "hi" }];
  assert.deepEqual(check([message(content), message(content)]), []);
});

test("toJSON is respected", () => {
  const item = { toJSON: () => message("hi") };
  const { items } = repair([item]);
  assert.equal(items[0], item);
});

test("non-ASCII text is preserved", () => {
  const call = { type: "function_call", call_id: "ü\u{1F600}", name: "x", arguments: "{}" };
  const { items } = repair([message("ß\ud800"), call]);
  assert.equal(items[0].content, "ß\ud800");
  assert.equal(items[1], call);
  assert.equal(items[2].call_id, call.call_id);
});
