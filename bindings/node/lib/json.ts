import { nameOf, refused } from "./arguments.js";
import { writePlain } from "./plain.js";
import { Scratch } from "./scratch.js";

/** The JSON text of a list of items. Throws a `TypeError` with the path of an invalid value. */
export function textOf(items: readonly unknown[], argument: string): string {
  refuseOtherThanArray(items, argument);
  return valueText(items, argument);
}

/** Calls with the JSON text in UTF-8. The bytes are valid only during the call. */
export function withBytesOf<R>(
  items: readonly unknown[],
  argument: string,
  call: (bytes: Uint8Array) => R,
): R {
  refuseOtherThanArray(items, argument);
  const scratch = Scratch.take();
  try {
    writeItems(items, argument, scratch);
    return call(scratch.written);
  } finally {
    scratch.release();
  }
}

function writeItems(items: readonly unknown[], argument: string, scratch: Scratch): void {
  let mayLose = true;
  scratch.write("[");
  for (let position = 0; position < items.length; position += 1) {
    if (position > 0) scratch.write(",");
    const { length } = scratch;
    if (writePlain(items[position], scratch)) continue;
    scratch.rewind(length);
    if (mayLose) refuseLost(items, argument);
    mayLose = false;
    scratch.write(JSON.stringify(items[position]) ?? "null");
  }
  scratch.write("]");
}

/** The JSON text of a value. Throws a `TypeError` with the path of an invalid value. */
export function valueText(value: object, argument: string): string {
  refuseLost(value, argument);
  return JSON.stringify(value);
}

function refuseOtherThanArray(items: unknown, argument: string): void {
  if (Array.isArray(items)) return;
  throw refused(argument, "must be an array of items", items);
}

/** Throws with the path of the first value that JSON cannot express. */
function refuseLost(value: object, argument: string): void {
  const lost = findLost(value, []);
  if (lost === undefined) return;
  const path = lost.path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  throw new TypeError(`${argument}${path}: JSON cannot express ${lost.description}.`);
}

interface Lost {
  path: (string | number)[];
  description: string;
}

const UNDEFINED: Lost = { path: [], description: "undefined in an array" };

function findLost(holder: object, holders: object[]): Lost | undefined {
  if (holders.includes(holder)) return { path: [], description: "a value that contains itself" };
  if (typeof (holder as { toJSON?: unknown }).toJSON === "function") return undefined;
  holders.push(holder);
  const lost = Array.isArray(holder) ? inArray(holder, holders) : inObject(holder, holders);
  holders.pop();
  return lost;
}

function inArray(array: unknown[], holders: object[]): Lost | undefined {
  for (let position = 0; position < array.length; position += 1) {
    const value = array[position];
    const lost = value === undefined ? UNDEFINED : inValue(value, holders);
    if (lost) return under(position, lost);
  }
  return undefined;
}

function inObject(object: object, holders: object[]): Lost | undefined {
  for (const key in object) {
    if (!Object.hasOwn(object, key)) continue;
    const lost = inValue((object as Record<string, unknown>)[key], holders);
    if (lost) return under(key, lost);
  }
  return undefined;
}

/** `undefined` is allowed here: JSON leaves out a key with that value. */
function inValue(value: unknown, holders: object[]): Lost | undefined {
  switch (typeof value) {
    case "object":
      return value === null ? undefined : findLost(value, holders);
    case "number":
      return Number.isFinite(value) ? undefined : { path: [], description: String(value) };
    case "bigint":
    case "function":
    case "symbol":
      return { path: [], description: nameOf(value) };
    default:
      return undefined;
  }
}

function under(key: string | number, { path, description }: Lost): Lost {
  return { path: [key, ...path], description };
}
