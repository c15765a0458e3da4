// The programs in TypeScript compile.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import test from "node:test";

const require = createRequire(import.meta.url);
const TSC = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");
const OPTIONS = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck"];
const TARGET = ["--ignoreConfig", "--target", "es2022", "--module", "nodenext", "--types", "node"];

for (const file of ["types.ts", "types.cts", "openai_agents_types.ts"]) {
  test(`${file} is accepted`, () => {
    const options = { cwd: import.meta.dirname, encoding: "utf8" };
    const said = spawnSync(process.execPath, [TSC, ...OPTIONS, ...TARGET, file], options);
    assert.equal(said.stdout + said.stderr, "");
    assert.equal(said.status, 0);
  });
}
