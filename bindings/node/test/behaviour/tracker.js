// Runs the steps of a tracker case.

import assert from "node:assert/strict";

import { Tracker } from "antiphon";

import { assertWhole } from "./comparison.js";

/** Runs all steps, and compares each result with the expected one. */
export function runTracker({ options, steps }) {
  const run = { tracker: new Tracker(optionsOf(options)), added: new Map() };
  for (const step of steps ?? []) runStep(run, step);
}

function runStep(run, { do: name, with: given, gives, fails, ...unknown }) {
  assert.deepEqual(Object.keys(unknown), [], "fields of a step that are not known");
  const step = STEPS[name];
  assert.ok(step, `"do": "${name}" is not known`);
  if (fails) {
    assert.throws(() => step(run, given), { code: fails });
  } else {
    const gave = step(run, given, gives);
    if (gives !== undefined) assertWhole(gave, gives);
  }
}

const STEPS = {
  add({ tracker, added }, items) {
    const occurrences = tracker.add(items);
    occurrences.forEach((occurrence, index) => added.set(occurrence, items[index]));
    return occurrences;
  },
  plan: (run, _, wanted = {}) => named(planOnTheWire(run, run.tracker.plan()), wanted),
  send: ({ tracker }, occurrences) => tracker.send(occurrences),
  send_filtered: ({ tracker }, returned) => tracker.sendFiltered(returned),
  accept: ({ tracker }, { attempt, response }) => tracker.accept(attempt, response),
  rewind: ({ tracker }, attempt) => tracker.rewind(attempt),
  hydrate: ({ tracker }, held) => tracker.hydrate(held),
  unresolved: ({ tracker }) => tracker.unresolved(),
  standing: ({ tracker }, occurrence) => tracker.standing(occurrence) ?? null,
  turns: ({ tracker }) => tracker.turns,
  finish: ({ tracker }) => tracker.finish(),
  restore(run) {
    run.tracker = Tracker.fromJSON(JSON.stringify(run.tracker));
    run.added.clear();
    run.isRestored = true;
  },
};

/** An unchanged item must be the same object, except after a restore. */
function planOnTheWire({ added, isRestored }, { items, leftOut, conversation, previousResponseId }) {
  const place = ({ occurrence, item }) =>
    added.get(occurrence) === item ? occurrence : { occurrence, item };
  return {
    items: items.map(place),
    left_out: leftOut,
    conversation,
    previous_response_id: previousResponseId,
    isRestored,
  };
}

/** The fields that a step names. After a restore, only the numbers of items are compared. */
function named({ isRestored, ...plan }, wanted) {
  const chosen = Object.fromEntries(Object.keys(wanted).map((key) => [key, plan[key]]));
  if (isRestored && wanted.items) {
    chosen.items = plan.items.map((place, index) =>
      typeof wanted.items[index] === "number" ? (place.occurrence ?? place) : place,
    );
  }
  return chosen;
}

function optionsOf(options) {
  const { conversation, previous_response_id, auto_previous_response_id, ...rest } = options;
  const { reasoning_ids, ...unknown } = rest;
  return {
    conversation,
    previousResponseId: previous_response_id,
    autoPreviousResponseId: auto_previous_response_id,
    reasoningIds: reasoning_ids,
    ...unknown,
  };
}
