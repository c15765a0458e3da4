// Requests, answers and reports of `statefulFetch`.

import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";

import OpenAI from "openai";

import { statefulFetch, wholeFetch } from "antiphon";

const BASE = "http://provider.test/v1";
const MEGABYTE = 1 << 20;
const ANSWER = { id: "resp_1", object: "response", status: "completed", output: [] };

/** A fetch with canned answers, and the requests that it received. */
function server(answer = () => Response.json(ANSWER)) {
  const asked = [];
  const fetch = async (input, init) => {
    const request = new Request(input, init);
    asked.push({
      url: request.url,
      method: request.method,
      headers: request.headers,
      body: await request.clone().text(),
    });
    return answer(request);
  };
  return { fetch, asked };
}

const post = (fetch, body, init = {}) =>
  fetch(`${BASE}/responses`, { method: "POST", body, ...init });

test("a valid request is sent unchanged", async () => {
  const { fetch, asked } = server();
  const body = '{"model": "m",  "input": "hi"}';
  const answer = await post(statefulFetch({ fetch }), body);

  assert.deepEqual(asked.map((request) => request.body), [body]);
  assert.equal(answer.headers.get("antiphon-resent"), "0");
  assert.equal(answer.headers.get("antiphon-repairs"), null);
  assert.deepEqual(await answer.json(), ANSWER);
});

const BODIES = {
  "a text": (text) => ({ body: text }),
  "bytes": (text) => ({ body: new TextEncoder().encode(text) }),
  "a buffer": (text) => ({ body: new TextEncoder().encode(text).buffer }),
  "a blob": (text) => ({ body: new Blob([text]) }),
  "a stream": (text) => ({ body: new Blob([text]).stream(), duplex: "half" }),
};

for (const [what, init] of Object.entries(BODIES)) {
  test(`a body may be ${what}`, async () => {
    const { fetch, asked } = server();
    const answer = await post(statefulFetch({ fetch }), undefined, init('{"input":"hi"}'));
    assert.equal(answer.headers.get("antiphon-resent"), "0");
    assert.equal(asked[0].body, '{"input":"hi"}');
  });
}

test("a request may be a Request", async () => {
  const { fetch, asked } = server();
  const headers = { authorization: "Bearer sk-1" };
  const request = new Request(`${BASE}/responses`, { method: "POST", body: "{}", headers });
  const answer = await statefulFetch({ fetch })(request);
  assert.equal(answer.headers.get("antiphon-resent"), "0");
  assert.equal(asked[0].body, "{}");
  assert.equal(asked[0].headers.get("authorization"), "Bearer sk-1");
});

const OTHERS = {
  "another route": [`${BASE}/chat/completions`, { method: "POST", body: "{}" }],
  "a question": [`${BASE}/responses`, {}],
  "a cancellation": [`${BASE}/responses/resp_1/cancel`, { method: "POST" }],
  "a body that is no JSON": [`${BASE}/responses`, { method: "POST", body: "hi" }],
  "a form": [`${BASE}/responses`, { method: "POST", body: new FormData() }],
  "a new conversation": [`${BASE}/conversations`, { method: "POST", body: "{}" }],
  "items for a conversation": [`${BASE}/conversations/conv_1/items`, { method: "POST", body: "{}" }],
  "a deletion": [`${BASE}/conversations/conv_1`, { method: "DELETE" }],
};

for (const [what, [url, init]] of Object.entries(OTHERS)) {
  test(`${what} passes`, async () => {
    const own = Response.json({});
    const { fetch, asked } = server(() => own);
    assert.equal(await statefulFetch({ fetch })(url, init), own);
    assert.equal(asked.length, 1);
  });
}

test("a rejection passes unchanged", async () => {
  const refusal = '{"error": {"message": "No.", "type": "invalid_request_error"}}';
  const headers = { "x-request-id": "req_1", "content-type": "application/json" };
  const { fetch } = server(() => new Response(refusal, { status: 400, headers }));
  const answer = await post(statefulFetch({ fetch }), "{}");

  assert.equal(answer.status, 400);
  assert.equal(answer.headers.get("x-request-id"), "req_1");
  assert.equal(await answer.text(), refusal);
});

test("a rejection reports repairs too", async () => {
  const { fetch } = server(() => new Response("{}", { status: 400 }));
  const reports = [];
  const onReport = ({ mends }) => reports.push(...mends.map(({ fault }) => fault));
  const call = { type: "function_call", call_id: "call_1", name: "echo", arguments: "{}" };
  const answer = await post(statefulFetch({ fetch, onReport }), JSON.stringify({ input: [call] }));

  assert.equal(answer.headers.get("antiphon-repairs"), "unanswered_call=1");
  assert.deepEqual(reports, ["unanswered_call"]);
});

test("an answer keeps its url and type", async (t) => {
  const base = await listening(t, (_, response) => response.end("{}"));
  const answer = await statefulFetch()(`${base}/responses`, { method: "POST", body: "{}" });
  const clone = answer.clone().clone();
  for (const { url, type } of [answer, clone]) {
    assert.deepEqual({ url, type }, { url: `${base}/responses`, type: "basic" });
  }
  assert.deepEqual([await answer.text(), await clone.text()], ["{}", "{}"]);
});

test("a decoded answer has no content-encoding", async (t) => {
  const body = gzipSync(JSON.stringify(ANSWER));
  const base = await listening(t, (_, response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-length": body.length });
    response.end(body);
  });
  const answer = await statefulFetch()(`${base}/responses`, { method: "POST", body: "{}" });
  assert.equal(answer.headers.get("content-encoding"), null);
  assert.equal(answer.headers.get("content-length"), null);
  assert.deepEqual(await answer.json(), ANSWER);
});

test("a stream is corrected on demand", async () => {
  const delta = {
    type: "response.output_text.delta",
    ...{ sequence_number: 4, output_index: 0, item_id: "msg_1", content_index: 0, delta: "Hi" },
    logprobs: [],
  };
  const frame = `event: ${delta.type}\ndata: ${JSON.stringify(delta)}\n\n`;
  const item = '{"type":"message","id":"msg_1","role":"assistant","content":[]}';
  const added = `{"type":"response.output_item.added","output_index":0,"item":${item}}`;
  const end = `data: {"type":"response.completed","response":${JSON.stringify(ANSWER)}}\n\n`;
  const pieces = [`data: ${added}\n\n`, frame.slice(0, 9), frame.slice(9), end];
  let given = 0;
  const stream = new ReadableStream(
    {
      pull(controller) {
        if (given === pieces.length) return controller.close();
        controller.enqueue(new TextEncoder().encode(pieces[given++]));
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { "content-type": "text/event-stream" };
  const answer = await post(statefulFetch({ fetch: async () => new Response(stream, { headers }) }), "{}");
  const reader = answer.body.getReader();
  const read = async () => new TextDecoder().decode((await reader.read()).value);
  assert.match(await read(), /"type":"response.created"[^]*"type":"response.output_item.added"/);
  assert.equal(given, 1);
  const withDelta = await read();
  assert.ok(withDelta.endsWith(frame), withDelta);
  assert.equal(given, 3);
  assert.match(await read(), /"type":"response.completed"/);
  assert.ok((await reader.read()).done);
});

test("cancelling an answer cancels the server's", async () => {
  let reason;
  const stream = new ReadableStream({ cancel: (given) => void (reason = given) });
  const answer = await post(statefulFetch({ fetch: async () => new Response(stream) }), "{}");
  await answer.body.cancel("enough");
  assert.equal(reason, "enough");
});

test("a collected answer is cancelled", async () => {
  let isCancelled = false;
  const body = () => new ReadableStream({ cancel: () => void (isCancelled = true) });
  await post(statefulFetch({ fetch: async () => new Response(body()) }), "{}");
  await collectedUntil(() => isCancelled);
});

test("a broken answer fails for its reader", async () => {
  const stream = new ReadableStream({ pull: (controller) => controller.error(new Error("Cut.")) });
  const answer = await post(statefulFetch({ fetch: async () => new Response(stream) }), "{}");
  await assert.rejects(answer.text(), /Cut\./);
});

test("errors of fetch are thrown", async () => {
  const fetch = async () => {
    throw new TypeError("fetch failed");
  };
  await assert.rejects(post(statefulFetch({ fetch }), "{}"), /fetch failed/);
  await assert.rejects(statefulFetch()("no address", { method: "POST" }), TypeError);
});

test("a finished turn releases its request", async () => {
  const fetch = statefulFetch({ fetch: async () => Response.json(ANSWER) });
  const turn = async (number) => {
    const body = JSON.stringify({ input: "x".repeat(MEGABYTE) + number });
    await (await post(fetch, body)).arrayBuffer();
  };
  await turn(0);
  const before = process.memoryUsage.rss();
  for (let number = 1; number <= 100; number += 1) await turn(number);
  const grown = (process.memoryUsage.rss() - before) / MEGABYTE;
  assert.ok(grown < 90, `${grown} MB of 100 that were sent`);
});

const FAILING = {
  throws: () => {
    throw new Error("No.");
  },
  rejects: async () => {
    throw new Error("No.");
  },
};

for (const [how, onReport] of Object.entries(FAILING)) {
  test(`a listener that ${how} does not lose the answer`, async (t) => {
    const warnings = [];
    t.mock.method(process, "emitWarning", (message, { code }) => warnings.push([message, code]));
    const { fetch, asked } = server();
    const call = { type: "function_call", call_id: "call_1", name: "echo", arguments: "{}" };
    const body = JSON.stringify({ input: [call] });
    const answer = await post(statefulFetch({ fetch, onReport }), body);

    assert.deepEqual(await answer.json(), ANSWER);
    assert.equal(asked.length, 1);
    assert.deepEqual(warnings, [["onReport failed: Error: No.", "ANTIPHON_REPORT"]]);
  });
}

test("an abort ends the wait for a lock", async () => {
  const controller = new AbortController();
  const locked = { error: { code: "conversation_locked", type: "invalid_request_error", message: "" } };
  const { fetch, asked } = server(({ method }) => {
    if (method === "GET") return Response.json({ object: "list", data: [], has_more: false });
    controller.abort(new Error("Enough."));
    return Response.json(locked, { status: 409 });
  });
  const body = JSON.stringify({ conversation: "conv_1", input: "hi" });
  const answer = post(statefulFetch({ fetch }), body, { signal: controller.signal });

  await assert.rejects(answer, /Enough\./);
  assert.deepEqual(asked.map(({ method }) => method), ["GET", "POST"]);
});

test("the SDK works as usual", async () => {
  const { fetch, asked } = server();
  const options = { apiKey: "sk-1", baseURL: BASE, organization: "org-1", fetch: statefulFetch({ fetch }) };
  const client = new OpenAI(options);
  const { data, response } = await client.responses.create({ model: "m", input: "hi" }).withResponse();

  assert.equal(data.id, "resp_1");
  assert.equal(response.headers.get("antiphon-resent"), "0");
  assert.equal(asked[0].headers.get("authorization"), "Bearer sk-1");
  assert.equal(asked[0].headers.get("openai-organization"), "org-1");
});

/** Collects garbage until the expected effect has happened. */
async function collectedUntil(hasCome) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  for (let time = 0; time < 100 && !hasCome(); time += 1) {
    collect();
    await setImmediate();
  }
  assert.ok(hasCome());
}

async function listening(t, listener) {
  const { createServer } = await import("node:http");
  const { once } = await import("node:events");
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}/v1`;
}

test("wholeFetch is an alias of statefulFetch", () => {
  assert.equal(wholeFetch, statefulFetch);
});
