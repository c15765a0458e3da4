// Every stream has one terminal event.

import assert from "node:assert/strict";
import test from "node:test";

import { AntiphonError, toAnthropicStream, toResponsesStream } from "antiphon";

import { FINISH, eventsOf, partsOf, text } from "./parts.js";

const TERMINAL = ["response.completed", "response.incomplete", "response.failed"];

const failure = () => {
  throw new Error("The model is gone.");
};
const abortion = () => {
  throw new DOMException("The user left.", "AbortError");
};
const error = { type: "error", error: Object.assign(new Error("Overloaded."), { code: "busy" }) };

const ENDS = {
  "finishes": [partsOf([...text("Hello"), FINISH]), "response.completed"],
  "finishes at its limit": [
    partsOf([...text("Hel"), { ...FINISH, finishReason: { unified: "length" } }]),
    "response.incomplete",
  ],
  "throws": [partsOf(text("Hello"), failure), "response.failed", "The model is gone."],
  "throws at once": [partsOf([], failure), "response.failed", "The model is gone."],
  "is aborted": [partsOf(text("Hello"), abortion), "response.failed", "The user left."],
  "ends early": [partsOf(text("Hello")), "response.failed", /broke off/],
  "is empty": [partsOf([]), "response.failed", /broke off/],
  "tells of an error": [partsOf([...text("Hello"), error]), "response.failed", "Overloaded."],
  "tells of an error and goes on": [
    partsOf([error, ...text("Hello"), FINISH]),
    "response.failed",
    "Overloaded.",
  ],
  "finishes twice": [partsOf([...text("Hello"), FINISH, FINISH]), "response.completed"],
  "goes on behind its end": [partsOf([FINISH, ...text("Hello")]), "response.completed"],
  "has texts for parts": [partsOf(["Hel", "lo"]), "response.failed", /must be an object, not a string/],
  "has nothing for a part": [partsOf([undefined]), "response.failed", /must be an object, not undefined/],
  "has a part that cannot be read": [
    partsOf([{ type: "raw", get rawValue() { return failure(); } }]),
    "response.failed",
    /cannot be read/,
  ],
};

for (const [what, [source, type, message]] of Object.entries(ENDS)) {
  test(`a source that ${what} gives one terminal event`, async () => {
    const events = await eventsOf(toResponsesStream(source));

    const ends = events.filter((event) => TERMINAL.includes(event.type));
    assert.deepEqual(ends.map((end) => end.type), [type]);
    assert.equal(events.at(-1), ends[0]);
    assert.equal(ends[0].response.status, type.slice("response.".length));
    if (message instanceof RegExp) assert.match(ends[0].response.error.message, message);
    else assert.equal(ends[0].response.error?.message, message);
  });
}

test("an error keeps its code", async () => {
  const stream = toResponsesStream(partsOf([error]));
  await assert.rejects(stream.finalResponse(), (thrown) => {
    assert.ok(thrown instanceof AntiphonError);
    assert.equal(thrown.code, "busy");
    assert.equal(thrown.message, "Overloaded.");
    return true;
  });
});

test("a failed message is an error of Anthropic's", async () => {
  const stream = toAnthropicStream(partsOf(text("Hello"), failure));
  const events = await eventsOf(stream);
  assert.equal(events.at(-1).type, "error");
  assert.equal(events.at(-1).error.message, "The model is gone.");
  await assert.rejects(stream.finalResponse(), { code: "api_error" });
});

test("an abort ends a silent source", async () => {
  const source = neverEnding(text("Hello").slice(0, 2));
  const abort = new AbortController();
  const stream = toResponsesStream(source.parts, { signal: abort.signal });
  const events = [];
  for await (const event of stream) {
    events.push(event.type);
    if (event.type === "response.output_text.delta") abort.abort(new Error("Enough."));
  }
  assert.equal(events.at(-1), "response.failed");
  assert.equal(source.reason.message, "Enough.");
  await assert.rejects(stream.finalResponse(), { code: "aborted", message: "Enough." });
});

test("an aborted signal prevents reading", async () => {
  const source = neverEnding([]);
  const stream = toResponsesStream(source.parts, { signal: AbortSignal.abort("Too late.") });
  const events = await eventsOf(stream);
  assert.equal(events.at(-1).type, "response.failed");
  assert.equal(events.at(-1).response.error.message, "Too late.");
  assert.equal(source.reason, "Too late.");
});

/** Gives these parts and then nothing more; why it was cancelled. */
function neverEnding(parts) {
  const source = { reason: undefined };
  source.parts = new ReadableStream({
    start: (controller) => parts.forEach((part) => controller.enqueue(part)),
    cancel: (reason) => void (source.reason = reason),
  });
  return source;
}
