// CommonJS in both builds, since only `require` loads addons.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Beside `dist` in the package, wherever this file was compiled to. */
const PACKAGE = join(__dirname, "..", "..");

/**
 * The compiled module for this platform: the one that stands in the package, else that of the
 * optional package `@antiphon/<platform>`.
 */
export function loadAddon(): unknown {
  const causes: unknown[] = [];
  const names = platformNames(process.platform, process.arch);
  for (const name of names) {
    for (const place of [join(PACKAGE, `antiphon.${name}.node`), `@antiphon/${name}`]) {
      const found = load(place, causes);
      if (found !== undefined) return found;
    }
  }
  throw new Error(missing(names, causes), { cause: causes[0] });
}

/** What addons for a platform are called. Which C library a Linux has is shown by which one loads. */
export function platformNames(platform: string, arch: string): string[] {
  switch (platform) {
    case "linux":
      return [`linux-${arch}-gnu`, `linux-${arch}-musl`];
    case "win32":
      return [`win32-${arch}-msvc`];
    default:
      return [`${platform}-${arch}`];
  }
}

function load(place: string, causes: unknown[]): unknown {
  if (place.endsWith(".node") && !existsSync(place)) return undefined;
  try {
    return require(place);
  } catch (error) {
    if (!isAbsent(error)) causes.push(error);
    return undefined;
  }
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND";
}

function missing(names: string[], causes: unknown[]): string {
  const subject = `antiphon has no compiled module for ${process.platform} on ${process.arch}`;
  if (causes.length > 0) {
    return `${subject}: what is there does not load: ${(causes[0] as Error).message}.`;
  }
  const asked = askedFor();
  if (names.some((name) => asked.includes(name))) {
    const packages = names.map((name) => `@antiphon/${name}`).join(" nor ");
    const advice = "Install antiphon without leaving out optional dependencies";
    return `${subject}: neither ${packages} is installed. ${advice}.`;
  }
  const platforms = [...asked, ...contained()].join(", ");
  return `${subject}: ${platforms ? `there is one for ${platforms} alone` : "none is in the package"}.`;
}

/** The platforms whose packages this one asks for. */
function askedFor(): string[] {
  const manifest = join(PACKAGE, "package.json");
  if (!existsSync(manifest)) return [];
  const { optionalDependencies = {} } = JSON.parse(readFileSync(manifest, "utf8")) as Manifest;
  return Object.keys(optionalDependencies).map((name) => name.replace("@antiphon/", ""));
}

interface Manifest {
  optionalDependencies?: Record<string, string>;
}

/** The platforms whose modules stand in the package. */
function contained(): string[] {
  const files = readdirSync(PACKAGE).map((file) => /^antiphon\.(.+)\.node$/.exec(file)?.[1]);
  return files.filter((name) => name !== undefined);
}
