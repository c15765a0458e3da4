// Builds the package.
//
//   node build.mjs                       for use from here: dist/ and the addon, not optimized
//   node build.mjs --out FILE.tgz        a package that holds the addon for this platform
//   node build.mjs --out DIR --split     what is published: `antiphon`, which asks for its addon, and
//                                        `@antiphon/PLATFORM`, which is the addon
//
//   --addon FILE      a compiled addon (libantiphon_node.so, .dylib, antiphon_node.dll); else cargo
//                     builds one
//   --version V       what the package is stamped with; else what the workspace's Cargo.toml says
//   --platform NAME   of the addon, as in "linux-x64-gnu"; else this machine's
//   --platforms A,B   with --split: all that `antiphon` asks for; else --platform's
//
// ANTIPHON_NODE_MODULES names a node_modules with `typescript` and `@types/node`; else they are looked
// for as Node does.

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HERE = dirname(fileURLToPath(import.meta.url));
const LICENSE = join(HERE, "../../LICENSE");

const { values: options } = parseArgs({
  options: {
    addon: { type: "string" },
    out: { type: "string" },
    platform: { type: "string", default: platformOfThisMachine() },
    platforms: { type: "string" },
    split: { type: "boolean", default: false },
    version: { type: "string" },
  },
});
const addonFile = `antiphon.${options.platform}.node`;

compile();
const addon = options.addon ?? cargoBuild();
if (!options.out) placeAddon();
else if (options.split) packSplit(resolve(options.out));
else packWhole(resolve(options.out));

/** Both builds, each with its types. */
function compile() {
  const modules = process.env.ANTIPHON_NODE_MODULES;
  const manifest = modules
    ? join(modules, "typescript/package.json")
    : createRequire(import.meta.url).resolve("typescript/package.json");
  const tsc = join(dirname(manifest), "bin/tsc");
  const types = modules ? ["--typeRoots", join(modules, "@types")] : [];
  fs.rmSync(join(HERE, "dist"), { recursive: true, force: true });
  for (const project of ["tsconfig.json", "tsconfig.cjs.json"]) {
    run(process.execPath, [tsc, "-p", join(HERE, project), ...types]);
  }
  fs.writeFileSync(join(HERE, "dist/cjs/package.json"), `{ "type": "commonjs" }\n`);
}

/** The compiled addon; optimized where it goes into a package. */
function cargoBuild() {
  const profile = options.out ? "release" : "dev";
  run("cargo", ["build", "--locked", "-p", "antiphon-node", "--profile", profile]);
  const directory = profile === "release" ? "release" : "debug";
  const file = {
    win32: "antiphon_node.dll",
    darwin: "libantiphon_node.dylib",
  }[process.platform];
  return join(cargoMetadata().target_directory, directory, file ?? "libantiphon_node.so");
}

/** In place of an older one, which some process may still have loaded. */
function placeAddon() {
  fs.rmSync(join(HERE, addonFile), { force: true });
  fs.copyFileSync(addon, join(HERE, addonFile));
}

function packWhole(file) {
  const main = staged(manifest());
  fs.copyFileSync(addon, join(main, addonFile));
  const packed = pack(main, dirname(file));
  if (packed !== file) fs.renameSync(packed, file);
}

function packSplit(directory) {
  const { version } = manifest();
  const platforms = (options.platforms ?? options.platform).split(",");
  const wanted = platforms.map((platform) => [`@antiphon/${platform}`, version]);
  pack(staged({ ...manifest(), optionalDependencies: Object.fromEntries(wanted) }), directory);
  const own = fs.mkdtempSync(join(tmpdir(), "antiphon-platform-"));
  writeJson(join(own, "package.json"), platformManifest(version));
  fs.copyFileSync(addon, join(own, addonFile));
  fs.copyFileSync(LICENSE, join(own, "LICENSE"));
  pack(own, directory);
}

/** What is published, with its version. */
function manifest() {
  const { devDependencies, scripts, ...published } = readJson(join(HERE, "package.json"));
  return { ...published, version: options.version ?? workspaceVersion() };
}

function platformManifest(version) {
  const [os, cpu, libc] = options.platform.split("-");
  const { license, repository, engines } = readJson(join(HERE, "package.json"));
  return {
    name: `@antiphon/${options.platform}`,
    version,
    description: `The compiled module of antiphon for ${options.platform}.`,
    license,
    repository,
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
  const directory = fs.mkdtempSync(join(tmpdir(), "antiphon-package-"));
  writeJson(join(directory, "package.json"), packageJson);
  fs.cpSync(join(HERE, "dist"), join(directory, "dist"), { recursive: true });
  fs.copyFileSync(join(HERE, "README.md"), join(directory, "README.md"));
  fs.copyFileSync(LICENSE, join(directory, "LICENSE"));
  return directory;
}

/** The package file of a directory, which is done with. */
function pack(directory, out) {
  fs.mkdirSync(out, { recursive: true });
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm ? [process.execPath, npm] : ["npm"];
  const rest = [...first, "pack", "--silent", "--pack-destination", out];
  const said = execFileSync(command, rest, { cwd: directory, encoding: "utf8" });
  fs.rmSync(directory, { recursive: true });
  return join(out, basename(said.trim().split("\n").at(-1)));
}

function platformOfThisMachine() {
  const { platform, arch } = process;
  if (platform === "win32") return `win32-${arch}-msvc`;
  if (platform !== "linux") return `${platform}-${arch}`;
  const isGlibc = Boolean(process.report.getReport().header.glibcVersionRuntime);
  return `linux-${arch}-${isGlibc ? "gnu" : "musl"}`;
}

function workspaceVersion() {
  return cargoMetadata().packages.find(({ name }) => name === "antiphon-node").version;
}

function cargoMetadata() {
  const asked = ["metadata", "--format-version", "1", "--no-deps"];
  return JSON.parse(execFileSync("cargo", asked, { cwd: HERE, encoding: "utf8", maxBuffer: 64 << 20 }));
}

function run(command, args) {
  execFileSync(command, args, { cwd: HERE, stdio: "inherit" });
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

function writeJson(file, value) {
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
