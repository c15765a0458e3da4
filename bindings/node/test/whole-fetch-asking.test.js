// What the server holds is asked as the caller would ask it.

import assert from "node:assert/strict";
import test from "node:test";

import { wholeFetch } from "antiphon";

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

/** A fetch that answers what it is asked, and what it was asked. */
function server(ask = () => Response.json(EMPTY)) {
  const asked = [];
  const fetch = async (input, init) => {
    const request = new Request(input, init);
    asked.push(request);
    return request.method === "GET" ? ask(request) : Response.json(ANSWER);
  };
  return { fetch, asked };
}

test("with its credentials, its query and its own headers", async () => {
  const { fetch, asked } = server();
  await wholeFetch({ fetch })(ADDRESS, turn());

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

test("below a base URL without a path", async () => {
  const { fetch, asked } = server();
  await wholeFetch({ fetch })("https://mine.test/responses", turn());
  assert.equal(new URL(asked[0].url).pathname, "/conversations/conv_1/items");
});

test("until the caller leaves", async () => {
  const abort = new AbortController();
  const { fetch, asked } = server((request) => {
    abort.abort(new Error("Enough."));
    return Promise.reject(request.signal.reason);
  });
  await assert.rejects(wholeFetch({ fetch })(ADDRESS, turn({ signal: abort.signal })), /Enough\./);
  assert.deepEqual(asked.map(({ method }) => method), ["GET"]);
});

test("and again, where the question failed", async () => {
  let failures = 1;
  const { fetch, asked } = server(() => {
    if (failures-- > 0) throw new TypeError("fetch failed");
    return Response.json(EMPTY);
  });
  const whole = wholeFetch({ fetch });
  await assert.rejects(whole(ADDRESS, turn()), /fetch failed/);
  assert.equal((await whole(ADDRESS, turn())).status, 200);
  assert.deepEqual(asked.map(({ method }) => method), ["GET", "GET", "POST"]);
});

test("once, as long as the answers are heard to their end", async () => {
  const { fetch, asked } = server();
  const whole = wholeFetch({ fetch });
  await (await whole(ADDRESS, turn())).text();
  await (await whole(ADDRESS, turn())).text();
  assert.deepEqual(asked.map(({ method }) => method), ["GET", "POST", "POST"]);
});

test("again, where an answer was left", async () => {
  const { fetch, asked } = server();
  const whole = wholeFetch({ fetch });
  await (await whole(ADDRESS, turn())).body.cancel();
  await (await whole(ADDRESS, turn())).text();
  assert.deepEqual(asked.map(({ method }) => method), ["GET", "POST", "GET", "POST"]);
});
