// Errors of a package without its addon.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";

const require = createRequire(import.meta.url);
const HERE = dirname(require.resolve("antiphon/package.json"));

const [PLATFORM] = require(join(HERE, "dist/cjs/addon.cjs")).platformNames(
  process.platform,
  process.arch,
);
const NONE = `no compiled module for ${process.platform} on ${process.arch}: `;

/** The error of loading a copy of the package without its addon. */
function saidWithout(t, place) {
  const alone = mkdtempSync(join(tmpdir(), "antiphon-alone-"));
  t.after(() => rmSync(alone, { recursive: true }));
  cpSync(join(HERE, "dist"), join(alone, "dist"), { recursive: true });
  place(alone);
  try {
    require(join(alone, "dist/cjs/index.js"));
  } catch (error) {
    assert.ok(error.message.includes(NONE), error.message);
    return error.message;
  }
  assert.fail("it was loaded");
}

/** A package with optional dependencies for these platforms. */
const askingFor = (...platforms) => (directory) => {
  const wanted = platforms.map((platform) => [`@antiphon/${platform}`, "0.0.0"]);
  const manifest = { optionalDependencies: Object.fromEntries(wanted) };
  writeFileSync(join(directory, "package.json"), JSON.stringify(manifest));
};

test("a missing package is named with advice", (t) => {
  const said = saidWithout(t, askingFor(PLATFORM, "plan9-mips"));
  assert.match(said, new RegExp(`@antiphon/${PLATFORM}.* is installed. Install antiphon with its`));
});

test("an unsupported platform gets no install advice", (t) => {
  const said = saidWithout(t, askingFor("plan9-mips", "plan9-sparc"));
  assert.ok(said.endsWith(": the package supports plan9-mips, plan9-sparc."), said);
});

test("a package for another platform is reported", (t) => {
  const said = saidWithout(t, (directory) => {
    writeFileSync(join(directory, "antiphon.plan9-mips.node"), "");
  });
  assert.ok(said.endsWith(": the package supports plan9-mips."), said);
});

test("a package without a module is reported", (t) => {
  assert.ok(saidWithout(t, () => {}).endsWith(": the package contains none."));
});

test("an addon that fails to load is reported", (t) => {
  const broken = mkdtempSync(join(tmpdir(), "antiphon-broken-"));
  t.after(() => rmSync(broken, { recursive: true }));
  cpSync(join(HERE, "dist"), join(broken, "dist"), { recursive: true });
  cpSync(join(HERE, "package.json"), join(broken, `antiphon.${PLATFORM}.node`));
  assert.throws(() => require(join(broken, "dist/cjs/index.js")), /does not load: /);
});
