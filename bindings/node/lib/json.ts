import { nameOf, refused } from "./arguments.js";
import { writePlain } from "./plain.js";
import { Scratch } from "./scratch.js";

/** The JSON text of a list of items. What JSON cannot carry is a `TypeError` that says where it is. */
export function textOf(items: readonly unknown[], argument: string): string {
  refuseOtherThanArray(items, argument);
  return valueText(items, argument);
}

/** Calls with the same text, in UTF-8. The bytes are good until the call is over. */
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
    if (mayLose) refuseWhatIsLost(items, argument);
    mayLose = false;
    scratch.write(JSON.stringify(items[position]) ?? "null");
  }
  scratch.write("]");
}

/** The JSON text of a value that JSON can carry. */
export function valueText(value: object, argument: string): string {
  refuseWhatIsLost(value, argument);
  return JSON.stringify(value);
}

function refuseOtherThanArray(items: unknown, argument: string): void {
  if (Array.isArray(items)) return;
  throw refused(argument, "an array of items is needed", items);
}

/** Fails with the place of the first value that JSON has no form for. */
function refuseWhatIsLost(value: object, argument: string): void {
  const lost = findLost(value, []);
  if (lost === undefined) return;
  const path = lost.path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  throw new TypeError(`${argument}${path}: JSON cannot carry ${lost.what}.`);
}

interface Lost {
  path: (string | number)[];
  what: string;
}

function findLost(holder: object, holders: object[]): Lost | undefined {
  if (holders.includes(holder)) return { path: [], what: "what contains itself" };
  if (typeof (holder as { toJSON?: unknown }).toJSON === "function") return undefined;
  holders.push(holder);
  const lost = Array.isArray(holder) ? inArray(holder, holders) : inObject(holder, holders);
  holders.pop();
  return lost;
}

function inArray(array: unknown[], holders: object[]): Lost | undefined {
  for (let position = 0; position < array.length; position += 1) {
    const value = array[position];
    const lost = value === undefined ? { path: [], what: "undefined in an array" } : inValue(value, holders);
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

/** A key whose value is undefined is not there, as everywhere in JavaScript. */
function inValue(value: unknown, holders: object[]): Lost | undefined {
  switch (typeof value) {
    case "object":
      return value === null ? undefined : findLost(value, holders);
    case "number":
      return Number.isFinite(value) ? undefined : { path: [], what: String(value) };
    case "bigint":
    case "function":
    case "symbol":
      return { path: [], what: nameOf(value) };
    default:
      return undefined;
  }
}

function under(key: string | number, { path, what }: Lost): Lost {
  return { path: [key, ...path], what };
}
