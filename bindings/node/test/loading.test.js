// A package without its addon says so.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";

const require = createRequire(import.meta.url);
const HERE = dirname(require.resolve("antiphon/package.json"));

test("what is missing is named", (t) => {
  const alone = mkdtempSync(join(tmpdir(), "antiphon-alone-"));
  t.after(() => rmSync(alone, { recursive: true }));
  cpSync(join(HERE, "dist"), join(alone, "dist"), { recursive: true });
  const platform = `${process.platform} on ${process.arch}`;
  assert.throws(() => require(join(alone, "dist/cjs/index.js")), (error) => {
    assert.ok(error.message.includes(`no compiled module for ${platform}`), error.message);
    assert.match(error.message, /@antiphon\/\S+ is installed/);
    return true;
  });
});

test("an addon that does not load is not said to be missing", (t) => {
  const broken = mkdtempSync(join(tmpdir(), "antiphon-broken-"));
  t.after(() => rmSync(broken, { recursive: true }));
  cpSync(join(HERE, "dist"), join(broken, "dist"), { recursive: true });
  const { platformNames } = require(join(broken, "dist/cjs/addon.cjs"));
  const [name] = platformNames(process.platform, process.arch);
  cpSync(join(HERE, "package.json"), join(broken, `antiphon.${name}.node`));
  assert.throws(() => require(join(broken, "dist/cjs/index.js")), /does not load: /);
});
