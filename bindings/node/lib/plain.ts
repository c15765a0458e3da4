import { types } from "node:util";

import type { Scratch } from "./scratch.js";

/** The maximum depth. `JSON.stringify` handles deeper and recursive values. */
const MAX_DEPTH = 64;

const [COMMA, COLON] = [0x2c, 0x3a];
const [ARRAY, ARRAY_END] = [0x5b, 0x5d];
const [OBJECT, OBJECT_END] = [0x7b, 0x7d];

/**
 * Appends the result of `JSON.stringify` byte for byte, if the value consists of plain objects,
 * arrays, strings, finite numbers, booleans and null. Otherwise returns false after writing a part
 * of it.
 *
 * `JSON.stringify` creates one string. With a single character outside Latin-1, that takes twice
 * the memory and most of the time.
 */
export function writePlain(value: unknown, scratch: Scratch, depth = 0): boolean {
  switch (typeof value) {
    case "string":
      scratch.writeQuoted(value);
      return true;
    case "number":
      return Number.isFinite(value) && writeWord(value, scratch);
    case "boolean":
      return writeWord(value, scratch);
    case "object":
      if (value === null) return writeWord(value, scratch);
      if (depth === MAX_DEPTH) return false;
      return Array.isArray(value)
        ? writeArray(value, scratch, depth + 1)
        : writeObject(value, scratch, depth + 1);
    default:
      return false;
  }
}

function writeWord(word: number | boolean | null, scratch: Scratch): true {
  scratch.write(String(word));
  return true;
}

function writeArray(array: unknown[], scratch: Scratch, depth: number): boolean {
  if (hasOwnForm(array)) return false;
  const { length } = array;
  scratch.writeByte(ARRAY);
  for (let position = 0; position < length; position += 1) {
    if (position > 0) scratch.writeByte(COMMA);
    if (!writePlain(array[position], scratch, depth)) return false;
  }
  scratch.writeByte(ARRAY_END);
  return true;
}

function writeObject(object: object, scratch: Scratch, depth: number): boolean {
  if (!isPlain(object) || hasOwnForm(object)) return false;
  let before = OBJECT;
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    scratch.writeByte(before);
    scratch.writeQuoted(key);
    scratch.writeByte(COLON);
    if (!writePlain(value, scratch, depth)) return false;
    before = COMMA;
  }
  if (before === OBJECT) scratch.writeByte(OBJECT);
  scratch.writeByte(OBJECT_END);
  return true;
}

/** Excludes results of `JSON.rawJSON`, which have no prototype, and boxed primitives. */
function isPlain(object: object): object is Record<string, unknown> {
  return Object.getPrototypeOf(object) === Object.prototype && !types.isBoxedPrimitive(object);
}

function hasOwnForm(object: object): boolean {
  return typeof (object as { toJSON?: unknown }).toJSON === "function";
}
