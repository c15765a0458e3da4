// Builds the package.
//
//   node build.mjs                       for local use: dist/ and an unoptimized addon
//   node build.mjs --out FILE.tgz        a package with the addon for this platform
//   node build.mjs --out DIR --split     the published packages: `antiphon`, which depends on its
//                                        addon, and `@antiphon/PLATFORM`, the addon
//
//   --addon FILE      a compiled addon (libantiphon_node.so, .dylib, antiphon_node.dll); by default
//                     cargo builds one
//   --command FILE    with --out: the binary of the command `antiphon`; without it, the package has none
//   --version V       the version of the package; default: the version in the workspace's Cargo.toml
//   --platform NAME   the platform of the addon, such as "linux-x64-gnu"; default: this machine's
//   --platforms A,B   with --split: all platforms that `antiphon` supports; default: --platform
//
// ANTIPHON_NODE_MODULES names a node_modules with the development dependencies. Without it, Node's
// module resolution finds them.

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
    command: { type: "string" },
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
else packTogether(resolve(options.out));

/** Compiles both builds, each with its types. */
function compile() {
  const modules = process.env.ANTIPHON_NODE_MODULES;
  const manifest = modules
    ? join(modules, "typescript/package.json")
    : createRequire(import.meta.url).resolve("typescript/package.json");
  const tsc = join(dirname(manifest), "bin/tsc");
  fs.rmSync(join(HERE, "dist"), { recursive: true, force: true });
  for (const project of ["tsconfig.json", "tsconfig.cjs.json"]) {
    if (modules) compileWith(tsc, project, resolve(modules));
    else run(process.execPath, [tsc, "-p", join(HERE, project)]);
  }
  fs.writeFileSync(join(HERE, "dist/cjs/package.json"), `{ "type": "commonjs" }\n`);
}

/** Compiles a project with the types below another directory. */
function compileWith(tsc, project, modules) {
  const directory = fs.mkdtempSync(join(tmpdir(), "antiphon-project-"));
  const paths = { "@openai/agents": [join(modules, "@openai/agents/dist/index.d.ts")] };
  const compilerOptions = { typeRoots: [join(modules, "@types")], paths };
  const file = join(directory, project);
  writeJson(file, { extends: join(HERE, project), compilerOptions });
  run(process.execPath, [tsc, "-p", file]);
  fs.rmSync(directory, { recursive: true });
}

/** Compiles the addon; optimized if it goes into a package. */
function cargoBuild() {
  const profile = options.out ? "optimized" : "dev";
  run("cargo", ["build", "--locked", "-p", "antiphon-node", "--profile", profile]);
  const directory = options.out ? profile : "debug";
  const file = {
    win32: "antiphon_node.dll",
    darwin: "libantiphon_node.dylib",
  }[process.platform];
  return join(cargoMetadata().target_directory, directory, file ?? "libantiphon_node.so");
}

/** Replaces the addon. Deletes the old file first, because a process may have loaded it. */
function placeAddon() {
  fs.rmSync(join(HERE, addonFile), { force: true });
  fs.copyFileSync(addon, join(HERE, addonFile));
}

function packTogether(file) {
  const main = staged(manifest());
  fs.copyFileSync(addon, join(main, addonFile));
  addCommand(main, `antiphon-${options.platform}`);
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
  addCommand(own, "antiphon");
  pack(own, directory);
}

/** Adds the binary of the command, which the launcher `bin/antiphon.js` finds by its name. */
function addCommand(directory, stem) {
  if (!options.command) return;
  const name = options.platform.startsWith("win32") ? `${stem}.exe` : stem;
  fs.mkdirSync(join(directory, "bin"), { recursive: true });
  fs.copyFileSync(options.command, join(directory, "bin", name));
  fs.chmodSync(join(directory, "bin", name), 0o755);
}

/** The published manifest with its version. */
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
    description: `The compiled parts of antiphon for ${options.platform}.`,
    license,
    repository,
    main: addonFile,
    files: [addonFile, ...(options.command ? ["bin"] : [])],
    // Package managers that keep packages in archives unpack this one: a binary runs from a file.
    preferUnplugged: true,
    os: [os],
    cpu: [cpu],
    ...(os === "linux" && { libc: [libc === "musl" ? "musl" : "glibc"] }),
    engines,
  };
}

/** A directory with the published files. */
function staged(packageJson) {
  const directory = fs.mkdtempSync(join(tmpdir(), "antiphon-package-"));
  writeJson(join(directory, "package.json"), packageJson);
  for (const part of ["bin", "dist"]) {
    fs.cpSync(join(HERE, part), join(directory, part), { recursive: true });
  }
  fs.copyFileSync(join(HERE, "README.md"), join(directory, "README.md"));
  fs.copyFileSync(LICENSE, join(directory, "LICENSE"));
  return directory;
}

/** Packs a directory into a package file, and deletes the directory. */
function pack(directory, out) {
  fs.mkdirSync(out, { recursive: true });
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm ? [process.execPath, npm] : ["npm"];
  const rest = [...first, "pack", "--silent", "--pack-destination", out];
  const output = execFileSync(command, rest, { cwd: directory, encoding: "utf8" });
  fs.rmSync(directory, { recursive: true });
  return join(out, basename(output.trim().split("\n").at(-1)));
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
  const args = ["metadata", "--format-version", "1", "--no-deps"];
  const options = { cwd: HERE, encoding: "utf8", maxBuffer: 64 << 20 };
  return JSON.parse(execFileSync("cargo", args, options));
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
