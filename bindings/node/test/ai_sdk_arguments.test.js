// What is given wrongly is told at once, and by what it is.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { mend, whole } from "antiphon/ai-sdk";

const told = (message) => ({ name: "TypeError", message });

suite("a middleware is not made", () => {
  for (const conversations of ["conv_1", {}, null, { items: { list() {} } }]) {
    test(`with ${JSON.stringify(conversations)} for conversations`, () => {
      assert.throws(() => whole({ conversations }), told(/^conversations: client\.conversations/));
    });
  }

  for (const policy of ["forgive", "", 5, [], { calls: "forgive" }]) {
    test(`with the policy ${JSON.stringify(policy)}`, () => {
      assert.throws(() => whole({ policy }), told(/^policy: /));
    });
  }

  test("with options that are none, or a listener that cannot be told", () => {
    assert.throws(() => whole(null), told(/^options: an object is needed, not null/));
    assert.throws(() => whole({ onReport: "log" }), told(/^onReport: a function is needed/));
  });

  test("but with no options, and with those that are left open", () => {
    whole();
    whole({ conversations: undefined, policy: undefined, onReport: undefined });
  });
});

suite("messages are not mended", () => {
  const chat = [{ id: "1", role: "user", parts: [{ type: "text", text: "Hello" }] }];

  test("as an application's interface has them", () => {
    const advice = /^messages\[0\]: this is a UI message: await convertToModelMessages/;
    assert.throws(() => mend(chat), told(advice));
  });

  test("before they are there", () => {
    assert.throws(() => mend(Promise.resolve([])), told(/^messages: this is a promise: await it/));
  });

  for (const messages of [null, undefined, "Hello", { role: "user", content: "Hello" }]) {
    test(`where there are none: ${JSON.stringify(messages)}`, () => {
      assert.throws(() => mend(messages), told(/^messages: an array of model messages is needed/));
    });
  }

  test("where one is none", () => {
    const messages = [{ role: "user", content: "Hello" }, null];
    assert.throws(() => mend(messages), told(/^messages\[1\]: a model message has a role/));
  });

  test("by a policy that nobody knows", () => {
    assert.throws(() => mend([], { policy: "forgive" }), told(/^policy: /));
  });
});
