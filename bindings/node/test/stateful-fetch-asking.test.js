// List requests use the caller's credentials, query and signal.

import assert from "node:assert/strict";
import test from "node:test";

import { statefulFetch } from "antiphon";

const ADDRESS = "https://mine.test/openai/v1/responses?api-version=preview";
const HEADERS = {
  "api-key": "key-1",
  "openai-project": "proj-1",
  "content-type": "application/json",
  "idempotency-key": "once",
  "x-mine": "1",
};
const EMPTY = { object: "list", data: [], has_more: false, first_id: null, last_id: null };
const ANSWER = { id: "resp_1", object: "response", status: "completed", output: [] };

const turn = (init = {}) => ({
  method: "POST",
  headers: HEADERS,
  body: JSON.stringify({ model: "m", conversation: "conv_1", input: "hi" }),
  ...init,
});

/** A fetch with canned answers, and the requests that it received. */
function server(ask = () => Response.json(EMPTY)) {
  const asked = [];
  const fetch = async (input, init) => {
    const request = new Request(input, init);
    asked.push(request);
    return request.method === "GET" ? ask(request) : Response.json(ANSWER);
  };
  return { fetch, asked };
}

test("lists with the call's credentials, query and headers", async () => {
  const { fetch, asked } = server();
  await statefulFetch({ fetch })(ADDRESS, turn());

  const [question, sent] = asked;
  const address = new URL(question.url);
  assert.equal(address.origin + address.pathname, "https://mine.test/openai/v1/conversations/conv_1/items");
  assert.equal(address.searchParams.get("api-version"), "preview");
  assert.ok(address.searchParams.has("limit"));
  for (const name of ["api-key", "openai-project", "x-mine"]) {
    assert.equal(question.headers.get(name), HEADERS[name]);
  }
  assert.equal(question.headers.get("content-type"), null);
  assert.equal(question.headers.get("idempotency-key"), null);
  assert.equal(sent.url, ADDRESS);
  assert.equal(sent.headers.get("idempotency-key"), "once");
});

test("lists below a base URL without a path", async () => {
  const { fetch, asked } = server();
  await statefulFetch({ fetch })("https://mine.test/responses", turn());
  assert.equal(new URL(asked[0].url).pathname, "/conversations/conv_1/items");
});

test("stops listing after an abort", async () => {
  const abort = new AbortController();
  const { fetch, asked } = server((request) => {
    abort.abort(new Error("Enough."));
    return Promise.reject(request.signal.reason);
  });
  await assert.rejects(statefulFetch({ fetch })(ADDRESS, turn({ signal: abort.signal })), /Enough\./);
  assert.deepEqual(asked.map(({ method }) => method), ["GET"]);
});

test("lists again after a failed list request", async () => {
  let failures = 1;
  const { fetch, asked } = server(() => {
    if (failures-- > 0) throw new TypeError("fetch failed");
    return Response.json(EMPTY);
  });
  const stateful = statefulFetch({ fetch });
  await assert.rejects(stateful(ADDRESS, turn()), /fetch failed/);
  assert.equal((await stateful(ADDRESS, turn())).status, 200);
  assert.deepEqual(asked.map(({ method }) => method), ["GET", "GET", "POST"]);
});

test("lists once while answers are read to their end", async () => {
  const { fetch, asked } = server();
  const stateful = statefulFetch({ fetch });
  await (await stateful(ADDRESS, turn())).text();
  await (await stateful(ADDRESS, turn())).text();
  assert.deepEqual(asked.map(({ method }) => method), ["GET", "POST", "POST"]);
});

test("lists again after an abandoned answer", async () => {
  const { fetch, asked } = server();
  const stateful = statefulFetch({ fetch });
  await (await stateful(ADDRESS, turn())).body.cancel();
  await (await stateful(ADDRESS, turn())).text();
  assert.deepEqual(asked.map(({ method }) => method), ["GET", "POST", "GET", "POST"]);
});
