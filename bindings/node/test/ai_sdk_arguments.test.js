// Invalid arguments throw immediately, with a description of the value.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { mend, stateful } from "antiphon/ai-sdk";

const told = (message) => ({ name: "TypeError", message });

suite("a middleware is not created", () => {
  for (const conversations of ["conv_1", {}, null, { items: { list() {} } }]) {
    test(`with ${JSON.stringify(conversations)} for conversations`, () => {
      assert.throws(() => stateful({ conversations }), told(/^conversations: must be client\.conversations/));
    });
  }

  for (const policy of ["forgive", "", 5, [], { calls: "forgive" }]) {
    test(`with the policy ${JSON.stringify(policy)}`, () => {
      assert.throws(() => stateful({ policy }), told(/^policy: /));
    });
  }

  test("with invalid options or an invalid listener", () => {
    assert.throws(() => stateful(null), told(/^options: must be an object, not null/));
    assert.throws(() => stateful({ onReport: "log" }), told(/^onReport: must be a function/));
  });

  test("but is created with no or undefined options", () => {
    stateful();
    stateful({ conversations: undefined, policy: undefined, onReport: undefined });
  });
});

suite("messages are not repaired", () => {
  const chat = [{ id: "1", role: "user", parts: [{ type: "text", text: "Hello" }] }];

  test("if they are UI messages", () => {
    const advice = /^messages\[0\]: .* not a UI message: await convertToModelMessages/;
    assert.throws(() => mend(chat), told(advice));
  });

  test("if they are a promise", () => {
    assert.throws(() => mend(Promise.resolve([])), told(/^messages: .* not a promise: await it/));
  });

  for (const messages of [null, undefined, "Hello", { role: "user", content: "Hello" }]) {
    test(`if they are not an array: ${JSON.stringify(messages)}`, () => {
      assert.throws(() => mend(messages), told(/^messages: must be an array of model messages/));
    });
  }

  test("if one has no role and content", () => {
    const messages = [{ role: "user", content: "Hello" }, null];
    assert.throws(() => mend(messages), told(/^messages\[1\]: a model message needs a role/));
  });

  test("by an unknown policy", () => {
    assert.throws(() => mend([], { policy: "forgive" }), told(/^policy: /));
  });
});
