// The types are compatible with both versions of the AI SDK.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";

test("it can be required", () => {
  const { mend, stateful } = createRequire(import.meta.url)("antiphon/ai-sdk");
  assert.equal(stateful().specificationVersion, "v3");
  assert.deepEqual(mend([]), []);
});

test("the type checker accepts the middleware", () => {
  const compiler = createRequire(import.meta.url).resolve("typescript/package.json");
  const { status, stdout } = spawnSync(process.execPath, [
    join(dirname(compiler), "bin/tsc"),
    join(import.meta.dirname, "ai_sdk_types.ts"),
    ...["--noEmit", "--strict", "--skipLibCheck", "--target", "es2023", "--types", "node"],
    ...["--module", "nodenext", "--moduleResolution", "nodenext"],
  ]);
  assert.equal(status, 0, stdout?.toString());
});

test("whole is an alias of stateful", () => {
  const { stateful, whole } = createRequire(import.meta.url)("antiphon/ai-sdk");
  assert.equal(whole, stateful);
});
