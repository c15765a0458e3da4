// The JSON text for the native module equals the result of `JSON.stringify`.

import assert from "node:assert/strict";
import test from "node:test";
import { runInNewContext } from "node:vm";

const { withBytesOf } = await import(new URL("json.js", import.meta.resolve("antiphon")));

const SEED = Number(process.env.ANTIPHON_SEED ?? Math.trunc(Math.random() * 2 ** 31));
const LISTS = 2_000;

const written = (items) => withBytesOf(items, "items", (bytes) => Buffer.from(bytes).toString("latin1"));
const stringified = (items) => Buffer.from(JSON.stringify(items)).toString("latin1");

function assertSame(items, message) {
  const expected = stringified(items);
  assert.ok(written(items) === expected, `${message}: ${expected.slice(0, 2_000)}`);
}

test(`lists of anything, from seed ${SEED}`, () => {
  const random = randomFrom(SEED);
  for (let list = 0; list < LISTS; list += 1) {
    assertSame(arrayOf(random, 0), `ANTIPHON_SEED=${SEED}, list ${list}`);
  }
});

test("every unit, alone and at each window position", () => {
  for (let unit = 0; unit < 0x10000; unit += 1) {
    const text = String.fromCharCode(unit);
    assertSame([text, "plain".repeat(unit % 32) + text + "plain".repeat(20)], `unit ${unit}`);
  }
});

test("lone surrogates at every position", () => {
  const halves = ["\ud83d", "\ude00", "\ud83d\ude00", "a", '"'];
  for (let length = 0; length < 80; length += 1) {
    for (const one of halves) {
      for (const two of halves) assertSame(["a".repeat(length) + one + two], `after ${length}`);
    }
  }
});

test("concatenated strings", () => {
  const text = "Ein Satz, der länger ist. ".repeat(9);
  const parts = [text + '"', text + "\u2013", text.slice(3), (text + "\u2013").slice(40, 190)];
  assertSame([parts.join("") + parts[0], parts, { [parts[1] + parts[3]]: parts[2] + parts[1] }], "parts");
});

test("numbers and number-like values", () => {
  assertSame([0, -0, 1e21, 1e-7, 2 ** 53, -1.5, 5e-324, Number.MAX_VALUE, 0.1 + 0.2], "numbers");
  const wrapped = [new Number(7), new String("hi"), new Boolean(false)];
  assertSame([...wrapped, wrapped.map((it) => Object.setPrototypeOf(it, Object.prototype))], "wrapped");
});

test("objects of other kinds", () => {
  class Message {
    #hidden = 1;
    role = "user";
    get content() {
      return this.#hidden;
    }
  }
  const others = [new Message(), new Date(0), new Map([[1, 2]]), new Uint8Array(3), /x/, new Error("hi")];
  const foreign = runInNewContext("({ role: 'user', content: [{ type: 'input_text', text: 'hi' }] })");
  const bare = Object.assign(Object.create(null), { b: 1, a: [true, null] });
  const arrays = [Object.assign([1, 2], { key: 3 }), new (class extends Array {})(1, 2)];
  assertSame([...others, foreign, bare, ...arrays, Object.create({ inherited: 1 })], "others");
  if (JSON.rawJSON) assertSame([JSON.rawJSON("1e1000"), { raw: JSON.rawJSON('"\\u0041"') }], "raw");
});

test("keys of every kind, in their order", () => {
  const object = { z: 1, 10: 2, 9: 3, "": 4, 'quoted "key"\n': 5, "\ud800": 6, ключ: 7, [Symbol("s")]: 8 };
  Object.defineProperty(object, "__proto__", { value: 9, enumerable: true });
  Object.defineProperty(object, "hidden", { value: 10, enumerable: false });
  assertSame([object, { none: undefined }, { ...object, none: undefined, last: 1 }], "keys");
});

test("toJSON is called once with its key", () => {
  const asked = [];
  const toJSON = function (key) {
    asked.push(key);
    return { ...this, toJSON: undefined };
  };
  const own = { a: 1, toJSON };
  const list = Object.assign(["hi"], { toJSON: (key) => `a list at ${key}` });
  assertSame([{ own }, { own: [own] }, { list }, { lists: [list] }, { toJSON: "no function" }], "own forms");
  assert.deepEqual(asked, ["own", "0", "own", "0"], "by JSON.stringify, and here");
});

test("properties of all prototypes", (t) => {
  t.after(() => delete Object.prototype.toJSON);
  Object.defineProperty(Object.prototype, "toJSON", { configurable: true, value: () => "an object" });
  const items = [{ a: 1 }, "hi"];
  assert.equal(written(items), '["an object","hi"]');
});

test("getters and proxies", () => {
  let reads = 0;
  const item = { get role() { reads += 1; return "user"; }, content: "hi" };
  assert.equal(written([item]), '[{"role":"user","content":"hi"}]');
  assert.equal(reads, 1);
  assertSame([new Proxy({ a: 1, b: [2] }, {}), new Proxy([1, 2], {}), new Proxy(new Date(0), { get: () => undefined })], "proxies");
});

test("getters that change their container", () => {
  const deleting = () => ({ get a() { delete this.b; this.c = 1; return 1; }, b: 2 });
  assert.equal(written([deleting()]), stringified([deleting()]));
  const lengthening = () => { const list = [{ get a() { list.push(1); return 1; } }]; return [{ list }]; };
  assert.equal(written(lengthening()), stringified(lengthening()));
});

test("a list that is written during another", () => {
  const inner = ["ß".repeat(100), { a: "\n".repeat(100) }];
  const item = { before: "x".repeat(100), get inner() { return written(inner); }, after: 1 };
  assertSame([item, item], "nested");
});

test("depth", () => {
  const nested = (depth) => (depth === 0 ? "ß" : depth % 2 ? [nested(depth - 1)] : { a: nested(depth - 1) });
  for (const depth of [62, 63, 64, 65, 66, 1_000]) assertSame([nested(depth), 1], `depth ${depth}`);
});

function valueOf(random, depth) {
  const simple = [
    () => stringOf(random),
    () => stringOf(random),
    () => (random() - 0.5) * 10 ** Math.trunc(random() * 40 - 10),
    () => Math.trunc(random() * 1_000),
    () => random() < 0.5,
    () => null,
    () => new Date(Math.trunc(random() * 1e12)),
    () => ownForm(stringOf(random)),
    () => ({}),
    () => [],
  ];
  const nested = [arrayOf, objectOf, objectOf, bareOf].map((made) => () => made(random, depth + 1));
  return pick(random, depth > 4 ? simple : [...simple, ...nested])();
}

function arrayOf(random, depth) {
  return Array.from({ length: random() * 6 }, () => valueOf(random, depth));
}

function objectOf(random, depth) {
  const keys = Array.from({ length: random() * 6 }, () => stringOf(random).slice(0, 90));
  const value = () => (random() < 0.1 ? undefined : valueOf(random, depth));
  return Object.fromEntries(keys.map((key) => [key, value()]));
}

function ownForm(text) {
  return { text, toJSON: () => text };
}

function bareOf(random, depth) {
  return Object.assign(Object.create(null), objectOf(random, depth));
}

/** Strings of each width, with and without escapes, around the lengths of the fast paths. */
function stringOf(random) {
  const length = Math.trunc(pick(random, [8, 20, 70, 300]) * random());
  const special = pick(random, [0, 0.02, 0.5]);
  const widest = pick(random, [0x7f, 0xff, 0xffff, 0x10ffff]);
  const character = () => {
    if (random() >= special) return 0x20 + Math.trunc(random() * 0x5f);
    return pick(random, [0x22, 0x5c, 0x0a, Math.trunc(random() * 0x20), Math.trunc(random() * (widest + 1))]);
  };
  return String.fromCodePoint(...Array.from({ length }, character));
}

function pick(random, choices) {
  return choices[Math.trunc(random() * choices.length)];
}

/** Numbers from 0 to 1 (mulberry32). */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
