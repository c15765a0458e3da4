// A stream is read once and on demand. A reader that stops cancels the source.

import assert from "node:assert/strict";
import test from "node:test";

import { toAnthropicStream, toResponsesStream } from "antiphon";

import { FINISH, eventsOf, partsOf, text, types } from "./parts.js";

const PARTS = [...text("Hello", " there"), FINISH];

const readable = (parts) =>
  new ReadableStream({
    start(controller) {
      parts.forEach((part) => controller.enqueue(part));
      controller.close();
    },
  });

const SOURCES = {
  "an async iterable": () => partsOf(PARTS),
  "a readable stream": () => readable(PARTS),
  "what a model's doStream gives": () => ({ stream: readable(PARTS) }),
  "what streamText gives": () => ({ fullStream: readable(PARTS) }),
};

for (const [what, source] of Object.entries(SOURCES)) {
  test(`the source may be ${what}`, async () => {
    const response = await toResponsesStream(source()).finalResponse();
    assert.equal(response.output[0].content[0].text, "Hello there");
  });
}

for (const source of [undefined, null, "text", {}, [...PARTS], { stream: "text" }]) {
  test(`${JSON.stringify(source)?.slice(0, 20)} is not a source`, () => {
    assert.throws(() => toResponsesStream(source), { name: "TypeError", message: /^source: / });
  });
}

test("a locked stream is not a source", () => {
  const source = readable(PARTS);
  source.getReader();
  assert.throws(() => toResponsesStream(source), TypeError);
});

test("a request must be expressible in JSON", () => {
  const request = { metadata: { count: 1n } };
  assert.throws(() => toResponsesStream(partsOf([]), { request }), /^TypeError: request.metadata.count/);
  assert.throws(() => toResponsesStream(partsOf([]), { eventNames: "mine" }), /^TypeError: eventNames/);
});

test("a stream is read once", async () => {
  const stream = toResponsesStream(partsOf(PARTS));
  await eventsOf(stream);
  assert.throws(() => stream.toReadableStream(), /can be read only once/);
});

test("the source is read on demand", async () => {
  let read = 0;
  const counted = (async function* () {
    for (const part of PARTS) {
      read += 1;
      yield part;
    }
  })();
  const bytes = toResponsesStream(counted).toReadableStream();
  assert.equal(read, 0);

  const reader = bytes.getReader();
  await reader.read();
  assert.equal(read, 1);
});

test("events are the bytes of an event stream", async () => {
  const response = toResponsesStream(partsOf(PARTS)).toResponse({ headers: { "x-mine": "1" } });
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(response.headers.get("x-mine"), "1");
  const blocks = (await response.text()).trimEnd().split("\n\n");
  assert.equal(blocks.at(-1), "data: [DONE]");
  for (const block of blocks.slice(0, -1)) {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block);
    assert.equal(JSON.parse(data).type, name);
  }

  const messages = await toAnthropicStream(partsOf(PARTS)).toResponse().text();
  assert.ok(messages.trimEnd().endsWith('data: {"type":"message_stop"}'), messages);
});

test("the final response is available after the events", async () => {
  const stream = toResponsesStream(partsOf(PARTS));
  const answer = stream.finalResponse.bind(stream);
  const events = await eventsOf(stream);
  assert.deepEqual(await answer(), events.at(-1).response);
});

test("omissions are noted", async () => {
  const stream = toResponsesStream(partsOf([{ type: "of-tomorrow" }, ...PARTS]));
  await stream.finalResponse();
  assert.match(stream.notes.join(), /of-tomorrow/);
});

const LEAVING = {
  "leaves the loop": async (stream) => {
    for await (const event of stream) if (event.type === "response.output_text.delta") break;
  },
  "cancels the bytes": async (stream) => {
    const reader = stream.toReadableStream().getReader();
    await reader.read();
    await reader.cancel("enough");
  },
  "cancels the bytes while it waits for them": async (stream) => {
    const reader = stream.toReadableStream().getReader();
    const events = readToEnd(reader);
    await new Promise((resolve) => setImmediate(resolve));
    await reader.cancel("enough");
    await events;
  },
};

for (const [what, leave] of Object.entries(LEAVING)) {
  test(`a reader that ${what} stops a readable source`, async () => {
    let cancelled = false;
    const source = new ReadableStream({
      start: (controller) => PARTS.slice(0, 2).forEach((part) => controller.enqueue(part)),
      cancel: () => void (cancelled = true),
    });
    const stream = toResponsesStream(source);
    await leave(stream);
    assert.ok(cancelled);
    await assert.rejects(stream.finalResponse(), { code: "left" });
  });
}

test("leaving the loop stops an iterable source", async () => {
  let returned = false;
  const source = (async function* () {
    try {
      yield* PARTS;
    } finally {
      returned = true;
    }
  })();
  const seen = [];
  for await (const event of toResponsesStream(source)) {
    seen.push(event);
    if (seen.length === 3) break;
  }
  assert.equal(types(seen)[0], "response.created");
  assert.ok(returned);
});

async function readToEnd(reader) {
  while (!(await reader.read()).done);
}
