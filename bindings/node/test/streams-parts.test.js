// Parts can contain values that JSON cannot express.

import assert from "node:assert/strict";
import test from "node:test";

import { toResponsesStream } from "antiphon";

import { FINISH, partsOf } from "./parts.js";

const START = [{ type: "start" }, { type: "start-step", request: {}, warnings: [] }];
const CALL = { type: "tool-call", toolCallId: "call_1", toolName: "look", input: {} };

const outputOf = async (...parts) => {
  const { output } = await toResponsesStream(partsOf([...START, ...parts, FINISH])).finalResponse();
  return output;
};

const resultOf = async (output) => {
  const [, result] = await outputOf(CALL, { ...CALL, type: "tool-result", output });
  return JSON.parse(result.output);
};

test("a date is its text", async () => {
  assert.deepEqual(await resultOf({ at: new Date(0) }), { at: "1970-01-01T00:00:00.000Z" });
});

test("a big integer is its digits", async () => {
  assert.deepEqual(await resultOf({ n: 2n ** 70n }), { n: "1180591620717411303424" });
});

test("bytes are base64", async () => {
  const bytes = new Uint8Array([104, 105]);
  const expected = { a: "aGk=", b: "aGk=", c: "aGk=" };
  assert.deepEqual(await resultOf({ a: bytes, b: Buffer.from(bytes), c: bytes.buffer }), expected);
});

test("recursive values are cut off", async () => {
  const twice = { shared: true };
  const result = { name: "loop", one: twice, two: twice };
  result.self = result;
  const { self, ...rest } = await resultOf(result);
  assert.deepEqual(rest, { name: "loop", one: twice, two: twice });
  assert.equal(self, "[circular]");
});

test("a tool's error is its message", async () => {
  const error = new Error("No such city.");
  const [, output] = await outputOf(CALL, { ...CALL, type: "tool-error", error });
  assert.match(output.output, /No such city\./);
  assert.doesNotMatch(output.output, /streams-parts/);
});

test("a file is its type and its base64", async () => {
  const file = new (class {
    mediaType = "image/png";
    get base64() {
      return "aGk=";
    }
    get uint8Array() {
      return new Uint8Array([104, 105]);
    }
  })();
  const [item] = await outputOf({ type: "file", file });
  assert.equal(item.type, "ai-sdk:file");
  assert.deepEqual(item.content.file, { mediaType: "image/png", base64: "aGk=" });
});

test("an error's request is not exposed", async () => {
  const error = Object.assign(new Error("Refused."), {
    url: "https://api.example/v1",
    requestBodyValues: { secret: "s3cret" },
    responseHeaders: { cookie: "s3cret" },
    data: { error: { code: "invalid_prompt", message: "The prompt is invalid." } },
  });
  const stream = toResponsesStream(partsOf([...START, { type: "error", error }]));
  const text = await new Response(stream.toReadableStream()).text();
  assert.doesNotMatch(text, /s3cret/);
  await assert.rejects(stream.finalResponse(), { code: "invalid_prompt", message: "Refused." });
});

test("responses and headers are left out", async () => {
  const [item] = await outputOf({
    type: "custom",
    kind: "x.y",
    response: new Response("hi"),
    headers: new Headers({ a: "b" }),
  });
  assert.deepEqual(item.content.response, {});
  assert.deepEqual(item.content.headers, {});
});
