// `require` provides the same as `import`.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";

import * as imported from "antiphon";

const require = createRequire(import.meta.url);

test("the package can be required", () => {
  const required = require("antiphon");
  assert.match(require.resolve("antiphon"), /dist[\\/]cjs[\\/]index\.js$/);
  const names = (module) => Object.keys(module).filter((name) => name !== "default").sort();
  assert.deepEqual(names(required), names(imported));
  const { items, mends } = required.repair([{ type: "reasoning", id: "rs_1", summary: [] }]);
  assert.deepEqual([items.length, mends.length], [0, 1]);
});

test("a stream is the same", async () => {
  const { toResponsesStream } = require("antiphon");
  const parts = (async function* () {
    yield { type: "finish", finishReason: "stop", usage: {} };
  })();
  assert.equal((await toResponsesStream(parts).finalResponse()).status, "completed");
});
