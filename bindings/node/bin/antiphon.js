#!/usr/bin/env node
// The command `antiphon`: runs the binary of this platform, from the package itself or from the
// optional package `@antiphon/<platform>`.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

import addon from "../dist/cjs/addon.cjs";

const isWindows = process.platform === "win32";
const binary = findBinary();
if (binary === undefined) fail(missing());
else if (isWindows || !process.execve) runAsChild(binary);
else process.execve(binary, [binary, ...process.argv.slice(2)], process.env);

function findBinary() {
  const { resolve } = createRequire(import.meta.url);
  const suffix = isWindows ? ".exe" : "";
  for (const name of addon.platformNames(process.platform, process.arch)) {
    const own = fileURLToPath(new URL(`antiphon-${name}${suffix}`, import.meta.url));
    if (existsSync(own)) return own;
    try {
      return resolve(`@antiphon/${name}/bin/antiphon${suffix}`);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  return undefined;
}

function missing() {
  const subject = `antiphon has no command for ${process.platform} on ${process.arch}`;
  return `${subject}: install antiphon with its optional dependencies.`;
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exitCode = 1;
}

/** For Windows, and for a Node that cannot replace its own process (before 22.15). */
function runAsChild(file) {
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
  // A terminal sends SIGINT to the binary, too, and so does every console of Windows, where a signal
  // from here would end the binary at once. A second one would end it without its open turns.
  const sendsToAll = isWindows || process.stdin.isTTY;
  process.on("SIGINT", () => sendsToAll || child.kill("SIGINT"));
  if (isWindows) process.on("SIGBREAK", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
