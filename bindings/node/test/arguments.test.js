// Invalid arguments throw a TypeError that names the argument.

import assert from "node:assert/strict";
import test from "node:test";

import {
  Tracker,
  check,
  repair,
  statefulFetch,
  strip,
  toAnthropicStream,
  toResponsesStream,
} from "antiphon";

import { FINISH, partsOf } from "./parts.js";

const QUESTION = { role: "user", content: "Weather?" };
const HISTORY = [QUESTION];

function tracker() {
  const one = new Tracker({ conversation: "conv_1" });
  one.add([QUESTION, { role: "user", content: "And tomorrow?" }]);
  return one;
}

const stream = (options, to = toResponsesStream) => to(partsOf([FINISH]), options);

const REFUSED = {
  "a policy as options": [() => repair(HISTORY, "drop"), /^options: .*\{ held, policy \}.* a string\.$/],
  "held as options": [() => check(HISTORY, [QUESTION]), /^options: .*\{ held \}.* an array\.$/],
  "null as options": [() => check(HISTORY, null), /^options: .* null\.$/],
  "an option of another name": [() => repair(HISTORY, { polcy: "drop" }), /^polcy: .*held, policy\.$/],
  "a policy for a check": [() => check(HISTORY, { policy: "drop" }), /^policy: .*held\.$/],
  "a policy that is empty": [() => repair(HISTORY, { policy: "" }), /^policy: .* the empty string\.$/],
  "a policy that is a number": [() => repair(HISTORY, { policy: 5 }), /^policy: .* 5\.$/],
  "a policy that is a list": [() => repair(HISTORY, { policy: [] }), /^policy: .* an array\.$/],
  "a policy that is null": [() => repair(HISTORY, { policy: null }), /^policy: .* null\.$/],
  "a choice of another name": [() => repair(HISTORY, { policy: { cals: "drop" } }), /cals/],
  "held that is null": [() => check(HISTORY, { held: null }), /^held: .* null\.$/],

  "a conversation that is a number": [() => strip(HISTORY, { conversation: 5 }), /^conversation: .* 5\.$/],
  "a conversation that is a list": [() => strip(HISTORY, { conversation: [] }), /^conversation: .* an array\.$/],
  "a previous id that is an object": [() => strip(HISTORY, { previousResponseId: {} }), /^previousResponseId: .* an object\.$/],
  "a previous id in snake case": [() => strip(HISTORY, { previous_response_id: "resp_1" }), /^previous_response_id: unknown option/],
  "a marker as options": [() => strip(HISTORY, "conv_1"), /^options: .* a string\.$/],
  "an answer policy of another name": [() => strip(HISTORY, { conversation: "c", policy: { answers: "lose" } }), /answers=lose/],

  "no options for a fetch": [() => statefulFetch(null), /^options: .*\{ fetch, onReport \}.* null\.$/],
  "a URL text for statefulFetch": [() => statefulFetch("http://a.test/v1/responses", {}), /`fetch: statefulFetch\(\)`/],
  "a URL for statefulFetch": [() => statefulFetch(new URL("http://a.test/v1")), /`fetch: statefulFetch\(\)`/],
  "a Request for statefulFetch": [() => statefulFetch(new Request("http://a.test/v1")), /`fetch: statefulFetch\(\)`/],
  "a fetch that is none": [() => statefulFetch({ fetch: 5 }), /^fetch: .* 5\.$/],
  "a listener that is none": [() => statefulFetch({ onReport: {} }), /^onReport: .* an object\.$/],
  "an option of a fetch": [() => statefulFetch({ onreport() {} }), /^onreport: .*fetch, onReport\.$/],

  "a tracker without options": [() => new Tracker(), /^options: .*\{ conversation, .* undefined\.$/],
  "a conversation that is empty": [() => new Tracker({ conversation: "" }), /^conversation: .* the empty string\.$/],
  "a response id that is a number": [() => new Tracker({ previousResponseId: 5 }), /^previousResponseId: .* 5\.$/],
  "a flag that is a word": [() => new Tracker({ autoPreviousResponseId: "yes" }), /^autoPreviousResponseId: /],
  "reasoning ids in other words": [() => new Tracker({ conversation: "c", reasoningIds: "drop" }), /^reasoningIds: must be "keep" or "omit"/],
  "a snapshot that is null": [() => Tracker.fromJSON(null), /^snapshot: .* null\.$/],
  "no response": [() => tracker().accept(tracker().send([0])), /^response: .* undefined\.$/],
  "an attempt that is a text": [() => tracker().accept("0", {}), /^attempt: .*`send`.* a string\.$/],
  "a negative attempt": [() => tracker().rewind(-1), /^attempt: .* -1\.$/],
  "a broken number": [() => tracker().send([0, 1.7]), /^occurrences\[1\]: .*`add`.* 1\.7\.$/],
  "a negative number": [() => tracker().send([-1]), /^occurrences\[0\]: .* -1\.$/],
  "a list with a hole": [() => tracker().send(new Array(1)), /^occurrences\[0\]: .* undefined\.$/],
  "a text for a list": [() => tracker().send("0"), /^occurrences: .* a string\.$/],
  "a text for a number": [() => tracker().standing("x"), /^occurrence: .* a string\.$/],

  "a controller for a signal": [() => stream({ signal: new AbortController() }), /^signal: .*`controller\.signal`.* an object\.$/],
  "a signal that is null": [() => stream({ signal: null }), /^signal: .* null\.$/],
  "a request that is a text": [() => stream({ request: "gpt-5" }), /^request: .* a string\.$/],
  "names of events that nobody has": [() => stream({ eventNames: "mine" }), /^eventNames: /],
  "event names of another dialect": [() => stream({ eventNames: "openai" }, toAnthropicStream), /^eventNames: .*request, signal\.$/],
  "a signal as options": [() => stream("signal"), /^options: .* a string\.$/],
};

for (const [what, [call, message]] of Object.entries(REFUSED)) {
  test(`${what}: rejected by name`, () => assert.throws(call, { name: "TypeError", message }));
}

test("rejected numbers mark nothing as sent", () => {
  const one = tracker();
  assert.throws(() => one.send([0, 1.7]), TypeError);
  assert.equal(one.plan().items.length, 2);
});

test("conflicting options have their camelCase names", () => {
  const both = { conversation: "conv_1", previousResponseId: "resp_1" };
  assert.throws(() => new Tracker(both), { code: "conflicting_options", message: /previousResponseId/ });
  assert.throws(() => new Tracker({}), { code: "no_server_state", message: /autoPreviousResponseId/ });
});

test("a null part fails the answer", async () => {
  const answer = toResponsesStream(partsOf([null])).finalResponse();
  await assert.rejects(answer, { message: /must be an object, not null\./ });
});
