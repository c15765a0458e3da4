// Builds the package.
//
//   node build.mjs                           TypeScript to dist/
//   node build.mjs ADDON                     and the compiled addon beside it, for use from here
//   node build.mjs ADDON VERSION             and DIR/antiphon-VERSION.tgz, which holds both
//   node build.mjs ADDON VERSION --split     and two packages: `antiphon`, which asks for its addon,
//                                            and `@antiphon/PLATFORM`, which is the addon
//
// Options: --out DIR (default: here), --platform NAME (default: of this machine, as in
// "linux-x64-gnu"), --platforms NAMES for --split: all that `antiphon` asks for, with commas.
// ADDON is what `cargo build -p antiphon-node` leaves: libantiphon_node.so, .dylib or antiphon_node.dll.

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

const HERE = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);
const LICENSE = join(HERE, "../../LICENSE");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string", default: HERE },
    platform: { type: "string", default: platformOfThisMachine() },
    platforms: { type: "string" },
    split: { type: "boolean", default: false },
  },
});
const [addon, version] = positionals;
const addonFile = `antiphon.${values.platform}.node`;

compile();
if (addon) copyFileSync(addon, join(HERE, addonFile));
if (version && values.split) packSplit();
else if (version) packWhole();

/** Both builds, each with its types. */
function compile() {
  rmSync(join(HERE, "dist"), { recursive: true, force: true });
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  for (const project of ["tsconfig.json", "tsconfig.cjs.json"]) {
    execFileSync(process.execPath, [tsc, "-p", join(HERE, project)], { stdio: "inherit" });
  }
  writeFileSync(join(HERE, "dist/cjs/package.json"), `{ "type": "commonjs" }\n`);
}

/** One package for this platform alone, with the addon in it. */
function packWhole() {
  const main = staged(manifest());
  copyFileSync(addon, join(main, addonFile));
  pack(main);
}

/** The package without an addon, and that of this platform's. */
function packSplit() {
  const platforms = (values.platforms ?? values.platform).split(",");
  const wanted = platforms.map((platform) => [`@antiphon/${platform}`, version]);
  pack(staged({ ...manifest(), optionalDependencies: Object.fromEntries(wanted) }));
  const own = mkdtempSync(join(tmpdir(), "antiphon-platform-"));
  writeJson(join(own, "package.json"), platformManifest());
  copyFileSync(addon, join(own, addonFile));
  copyFileSync(LICENSE, join(own, "LICENSE"));
  pack(own);
}

function manifest() {
  const { devDependencies, scripts, ...published } = readJson(join(HERE, "package.json"));
  return { ...published, version };
}

function platformManifest() {
  const [os, cpu, libc] = values.platform.split("-");
  const { license, engines } = readJson(join(HERE, "package.json"));
  return {
    name: `@antiphon/${values.platform}`,
    version,
    description: `The compiled module of antiphon for ${values.platform}.`,
    license,
    main: addonFile,
    files: [addonFile],
    os: [os],
    cpu: [cpu],
    ...(os === "linux" && { libc: [libc === "musl" ? "musl" : "glibc"] }),
    engines,
  };
}

/** A directory with what is published of this one. */
function staged(packageJson) {
  const directory = mkdtempSync(join(tmpdir(), "antiphon-package-"));
  writeJson(join(directory, "package.json"), packageJson);
  cpSync(join(HERE, "dist"), join(directory, "dist"), { recursive: true });
  copyFileSync(join(HERE, "README.md"), join(directory, "README.md"));
  copyFileSync(LICENSE, join(directory, "LICENSE"));
  return directory;
}

/** `npm pack`; the directory is done with. */
function pack(directory) {
  const out = resolve(values.out);
  mkdirSync(out, { recursive: true });
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ["npm"];
  const [command, ...rest] = [...npm, "pack", "--silent", "--pack-destination", out];
  execFileSync(command, rest, { cwd: directory, stdio: "inherit" });
  rmSync(directory, { recursive: true });
}

function platformOfThisMachine() {
  const { platform, arch } = process;
  if (platform === "win32") return `win32-${arch}-msvc`;
  if (platform !== "linux") return `${platform}-${arch}`;
  const isGlibc = Boolean(process.report.getReport().header.glibcVersionRuntime);
  return `linux-${arch}-${isGlibc ? "gnu" : "musl"}`;
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
