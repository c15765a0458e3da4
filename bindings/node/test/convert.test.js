// Arguments and results of `convert`. tests/behaviour covers its conversions.

import assert from "node:assert/strict";
import test from "node:test";

import { convert } from "antiphon";

const CHUNK = { choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: "stop" }] };
const OPTIONS = { from: "chat", to: "responses" };

const textOf = ({ answer }) => answer.output[0].content[0].text;

test("an answer may be a text, bytes or events", () => {
  const text = `data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n`;
  for (const answer of [text, new TextEncoder().encode(text), [CHUNK], new Set([CHUNK])]) {
    assert.equal(textOf(convert(answer, OPTIONS)), "Hello");
  }
});

test("the answer repeats the request's fields", () => {
  const request = { model: "gpt-5", metadata: { turn: "1" } };
  assert.deepEqual(convert([CHUNK], { ...OPTIONS, request }).answer.metadata, request.metadata);
});

test("invalid arguments are rejected", () => {
  assert.throws(() => convert(7, OPTIONS), /^TypeError: answer: must be a text, bytes, or/);
  assert.throws(() => convert("", { ...OPTIONS, from: "ollama" }), /^TypeError: from: 'ollama'/);
  assert.throws(() => convert("", { ...OPTIONS, to: "ai-sdk" }), /^TypeError: to: cannot convert/);
  assert.throws(() => convert("", { ...OPTIONS, form: "chat" }), /^TypeError: form: unknown option/);
  assert.throws(() => convert("", { ...OPTIONS, request: 7 }), /^TypeError: request: must be an/);
});
