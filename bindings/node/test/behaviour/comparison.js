// Compares a result with the expected value of a case. A placeholder `<id 1>` matches any string, the
// same one at each place, and another than `<id 2>`.

import assert from "node:assert/strict";

const ANY = /^<\w+ \d+>$/;

/** Asserts that both have the same fields and values. */
export function assertWhole(came, wanted, ids = new Map()) {
  compare(came, wanted, { ids, isWhole: true, path: "" });
}

/** Compares only the fields that the case names. */
export function assertNamed(came, wanted, ids = new Map()) {
  compare(came, wanted, { ids, isWhole: false, path: "" });
}

function compare(came, wanted, context) {
  const { ids, isWhole, path } = context;
  const inside = (key) => ({ ...context, path: `${path}/${key}` });
  if (typeof wanted === "string" && ANY.test(wanted)) return compareId(came, wanted, ids, path);
  if (Array.isArray(wanted)) {
    assert.ok(Array.isArray(came), `${path}: no list came`);
    assert.equal(came.length, wanted.length, `${path}: its length; came ${JSON.stringify(came)}`);
    return wanted.forEach((value, index) => compare(came[index], value, inside(index)));
  }
  if (typeof wanted !== "object" || wanted === null) return compareValue(came ?? null, wanted, path);
  assert.ok(came && typeof came === "object", `${path}: no object came, but ${came}`);
  const present = Object.keys(came).filter((key) => came[key] !== undefined);
  if (isWhole) assert.deepEqual(present.sort(), Object.keys(wanted).sort(), `${path}: its fields`);
  for (const [key, value] of Object.entries(wanted)) compare(came[key], value, inside(key));
}

/** Normalizes negative zero, which JSON does not have. */
function compareValue(came, wanted, path) {
  if (came !== wanted) assert.equal(came, wanted, path);
}

function compareId(came, wanted, ids, path) {
  assert.equal(typeof came, "string", `${path}: no string came`);
  for (const [name, id] of ids) {
    assert.equal(name === wanted, id === came, `${path}: ${wanted} is ${came}, ${name} is ${id}`);
  }
  ids.set(wanted, came);
}
