// CommonJS in both builds, because only `require` loads addons.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The package directory, which contains `dist` and this compiled file. */
const PACKAGE = join(__dirname, "..", "..");

/**
 * Loads the compiled module for this platform, from the package itself or from the optional package
 * `@antiphon/<platform>`.
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

/** The names of addons for a platform. On Linux, only the one for the system's C library loads. */
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
    return `${subject}: the installed one does not load: ${(causes[0] as Error).message}.`;
  }
  const requested = requestedPlatforms();
  if (names.some((name) => requested.includes(name))) {
    const packages = names.map((name) => `@antiphon/${name}`).join(" nor ");
    const advice = "Install antiphon with its optional dependencies";
    return `${subject}: neither ${packages} is installed. ${advice}.`;
  }
  const platforms = [...requested, ...containedPlatforms()].join(", ");
  const contents = platforms ? `supports ${platforms}` : "contains none";
  return `${subject}: the package ${contents}.`;
}

/** The platforms of the optional dependencies. */
function requestedPlatforms(): string[] {
  const manifest = join(PACKAGE, "package.json");
  if (!existsSync(manifest)) return [];
  const { optionalDependencies = {} } = JSON.parse(readFileSync(manifest, "utf8")) as Manifest;
  return Object.keys(optionalDependencies).map((name) => name.replace("@antiphon/", ""));
}

interface Manifest {
  optionalDependencies?: Record<string, string>;
}

/** The platforms of the modules in the package. */
function containedPlatforms(): string[] {
  const files = readdirSync(PACKAGE).map((file) => /^antiphon\.(.+)\.node$/.exec(file)?.[1]);
  return files.filter((name) => name !== undefined);
}
