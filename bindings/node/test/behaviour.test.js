// Runs every case of tests/behaviour, as Rust and Python do. See tests/behaviour/README.md.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import * as antiphon from "antiphon";

import { runCompanion } from "./behaviour/companion.js";
import { assertNamed, assertWhole } from "./behaviour/comparison.js";
import { runTracker } from "./behaviour/tracker.js";

const REPOSITORY = process.env.ANTIPHON_REPOSITORY ?? join(import.meta.dirname, "../../..");
const CASES = join(REPOSITORY, "tests/behaviour");

const MENDING = { gives: assertMended, fails: assertFailed };

const RUNNERS = {
  check: {
    run: ({ items, held }) => antiphon.check(items, { held }),
    gives: (found, wanted, ids) => assertNamed(found.map(findingOf), wanted, ids),
    fails: assertFailed,
  },
  repair: {
    run: ({ items, held, policy }) => antiphon.repair(items, { held, policy }),
    ...MENDING,
  },
  filter_orphaned_reasoning: {
    run: ({ items }) => antiphon.filterOrphanedReasoning(items),
    ...MENDING,
  },
  strip: {
    run: ({ items, conversation, previous_response_id: previousResponseId, policy }) =>
      antiphon.strip(items, { conversation, previousResponseId, policy }),
    ...MENDING,
  },
  reconcile: {
    run: ({ held, items }) => antiphon.reconcile(held, items).map(verdictOnTheWire),
    gives: assertWhole,
    fails: assertFailed,
  },
  tracker: {
    run: runTracker,
    gives: () => {},
    fails: (error, wanted) => assert.equal(error.code, wanted.tracker),
  },
  companion: { run: runCompanion, gives: () => {} },
  convert: {
    run: convert,
    gives: (came, wanted, ids) => assertNamed(came, { error: null, ...wanted }, ids),
    fails: assertFailed,
  },
};

/** Whether this process runs only the tests of a pattern. */
const isFiltered = process.execArgv.some((option) => option.startsWith("--test-name-pattern"));

for (const file of readdirSync(CASES).filter((name) => name.endsWith(".json"))) {
  const cases = JSON.parse(readFileSync(join(CASES, file), "utf8"));
  test(file, async (t) => {
    assert.ok(cases.length > 0, "there are no cases");
    let ran = 0;
    for (const one of cases) {
      await t.test(one.name, async () => {
        ran += 1;
        await runCase(one);
      });
    }
    if (!isFiltered) assert.equal(ran, cases.length, "a case was skipped");
  });
}

async function runCase({ name, does, given, gives, fails, ...unknown }) {
  assert.deepEqual(Object.keys(unknown), [], `fields that are not known in "${name}"`);
  const runner = RUNNERS[does];
  assert.ok(runner, `"does": "${does}" is not known`);
  const before = JSON.stringify(given);
  if (fails) {
    const error = await failure(() => runner.run(given));
    runner.fails(error, fails, given);
  } else {
    runner.gives(await runner.run(given), gives, new Map(), given);
  }
  assert.equal(JSON.stringify(given), before, "what was given was changed");
}

async function failure(run) {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: "a failure was expected" });
}

/** Unchanged items must be the same objects. */
function assertMended(mended, wanted, ids, given) {
  wanted.items.forEach((place, index) => {
    if (typeof place === "number") assert.ok(mended.items[index] === given.items[place]);
  });
  const items = wanted.items.map((place) => (typeof place === "number" ? given.items[place] : place));
  assertWhole(mended.items, items, ids);
  assertNamed(mended.mends, wanted.mends, ids);
}

function assertFailed(error, wanted) {
  if (wanted.fault) {
    assert.equal(error.constructor.name, classNameOf(wanted.fault));
    assertNamed(findingOf(error), wanted, new Map());
  } else {
    assert.ok(error instanceof TypeError, String(error));
    assert.ok(error.message.includes(wanted.unreadable ?? wanted.policy), error.message);
  }
}

const classNameOf = (fault) => fault.replace(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase());

function findingOf({ position, id, fault, action, message, code, param }) {
  return { position, id, fault, action, message, code, param };
}

function verdictOnTheWire({ madeUp, ...verdict }) {
  return madeUp === undefined ? verdict : { ...verdict, made_up: madeUp };
}

function convert({ from, to, parts, text, request, event_names: eventNames }) {
  const options = { from, to, request, eventNames };
  const { answer: folded, ...converted } = antiphon.convert(parts ?? text, options);
  return { ...converted, folded };
}
