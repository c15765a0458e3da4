// Chains of responses. A tool loop of the AI SDK stays on the response that it began with and resends
// the call with its output: a branch of its own, without duplicates.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import {
  DELIVERIES,
  ECHO,
  FACT,
  RECALL,
  VERSIONS,
  bare,
  call,
  user,
  wrapped,
} from "./ai_sdk.js";
import { kind, startProvider } from "./provider.js";

const NEW = [["user"], ["user"], ["user", "function_call", "function_call_output"], ["user"]];

for (const [version, sdk] of Object.entries(VERSIONS)) {
  for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
    suite(`${version} ${delivery}`, () => {
      test("without the middleware resent messages are rejected", async (t) => {
        await startProvider(t);
        await assert.rejects(dialogue(sdk, deliver, () => bare(sdk), all), /Duplicate item found/);
      });

      test("new messages alone are sent unchanged", async (t) => {
        const provider = await startProvider(t);
        const model = wrapped(sdk);
        await assertWhole(provider, await dialogue(sdk, deliver, () => model, latest));
      });

      test("messages of the chain are left out", async (t) => {
        const provider = await startProvider(t);
        const model = wrapped(sdk);
        await assertWhole(provider, await dialogue(sdk, deliver, () => model, all));
      });

      test("valid messages cause no report and no rejection", async (t) => {
        const provider = await startProvider(t);
        const reports = [];
        const onReport = (report) => reports.push(report);
        const model = wrapped(sdk, { policy: "reject", onReport });

        const answer = await dialogue(sdk, deliver, () => model, all);

        await assertWhole(provider, answer);
        assert.deepEqual(reports.flatMap(({ mends }) => mends), []);
        assert.deepEqual(answer.warnings, []);
      });

      test("a new middleware in mid-conversation does the same", async (t) => {
        const provider = await startProvider(t);
        await assertWhole(provider, await dialogue(sdk, deliver, () => wrapped(sdk), all));
      });
    });
  }
}

/** The messages that a turn sends. */
const all = (history) => history;
const latest = (history) => history.slice(-1);

async function dialogue(sdk, deliver, model, brought) {
  const history = [];
  const warnings = [];
  let answer = {};
  for (const text of [FACT, ECHO, RECALL]) {
    history.push(user(text));
    const { responseId: previousResponseId } = answer;
    answer = await deliver(sdk, call(sdk, model(), brought(history), { previousResponseId }));
    history.push(...answer.messages);
    warnings.push(...answer.warnings);
  }
  return { ...answer, warnings };
}

async function assertWhole(provider, { text }) {
  assert.match(text, /purple/);
  assert.deepEqual(await provider.refusals(), []);
  assert.deepEqual(await provider.twice(), []);
  assert.deepEqual((await provider.sent()).map((items) => items.map(kind)), NEW);
}
