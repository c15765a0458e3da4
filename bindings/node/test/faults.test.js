// Faults are errors, one class each.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import * as antiphon from "antiphon";

const REPOSITORY = process.env.ANTIPHON_REPOSITORY ?? join(import.meta.dirname, "../../..");
const CALL = { type: "function_call", id: "fc_1", call_id: "call_1", name: "x", arguments: "{}" };

test("a fault is an error of its own class", () => {
  const [fault, ...others] = antiphon.check([CALL]);
  assert.deepEqual(others, []);
  assert.ok(fault instanceof antiphon.UnansweredCall);
  assert.ok(fault instanceof antiphon.Fault);
  assert.ok(fault instanceof Error);
  assert.equal(fault.name, "UnansweredCall");
  assert.equal(String(fault), "UnansweredCall: No tool output found for function call call_1.");
  const { position, id, code, param } = fault;
  assert.deepEqual({ position, id, code, param }, { position: 0, id: "fc_1", code: null, param: "input" });
});

test("a policy that rejects throws the fault", () => {
  assert.throws(() => antiphon.repair([CALL], { policy: "reject" }), antiphon.UnansweredCall);
  const policy = { calls: "reject", reasoning: "drop" };
  assert.throws(() => antiphon.repair([CALL], { policy }), antiphon.UnansweredCall);
});

test("an undefined choice is ignored", () => {
  const policy = { calls: undefined, reasoning: "drop" };
  assert.deepEqual(antiphon.repair([CALL], { policy }), antiphon.repair([CALL]));
});

test("an unknown policy is named", () => {
  const unknown = { name: "TypeError", code: "policy", message: /'sometimes'/ };
  assert.throws(() => antiphon.repair([CALL], { policy: "sometimes" }), unknown);
});

test("every fault of the engine has a class", () => {
  const source = readFileSync(join(REPOSITORY, "crates/antiphon/src/faults/mod.rs"), "utf8");
  const names = [...source.matchAll(/Self::(\w+) \{ \.\. \} => "(\w+)"/g)].map(([, name]) => name);
  assert.ok(names.length >= 14, "the catalogue was not found");
  for (const name of names) assert.ok(antiphon[name]?.prototype instanceof antiphon.Fault, name);
});
