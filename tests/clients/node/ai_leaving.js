// What every provider of the AI SDK does with a turn that breaks off: it is left in the middle, its
// tool raises, or its run stops at the first tool.

import { suite, test } from "node:test";
import { streamText, tool } from "ai";
import { z } from "zod";

import { endOf, isStepCount, partsOf } from "./ai_versions.js";
import { Tenant } from "./context.js";
import { newEcho } from "./dialogue.js";
import {
  ECHO,
  FACT,
  MOMENTS,
  RECALL,
  assertGoneOn,
  assertRecalled,
  isToldBy,
  titleOf,
} from "./leaving.js";

const TIMEOUT = 20_000;

/**
 * Suites over one way to keep a conversation. `newState(tenant)` gives what a turn is asked with,
 * `params(said)`, and takes in what came of it, `accept(said, answer)`; of a turn that was left that
 * is the announced id alone.
 */
export function breakingOff(way, newState) {
  suite(`a turn that breaks off, by ${way}`, () => {
    for (const moment of MOMENTS.filter(({ lateOutput }) => !lateOutput)) {
      test(`left ${titleOf(moment)}`, () =>
        goesOn(newState, moment.said, async (state, tenant) => {
          await tenant.stopNextAnswer(moment.place);
          state.accept(moment.said, await leave(state.params(moment.said), moment));
        }));
    }
    test("its tool raises", () =>
      goesOn(newState, ECHO, async (state) => {
        const tools = { echo: failing() };
        state.accept(ECHO, await ask({ ...state.params(ECHO), tools }));
      }));
    test("it stops at its first tool", () =>
      goesOn(newState, ECHO, async (state) => {
        const { tools } = newEcho();
        state.accept(ECHO, await ask({ ...state.params(ECHO), tools, stopWhen: isStepCount(1) }));
      }));
  });
}

async function goesOn(newState, said, breakOff) {
  const tenant = new Tenant();
  const state = await newState(tenant);
  state.accept(FACT, await ask(state.params(FACT)));

  await breakOff(state, tenant);

  const recalled = await ask({ ...state.params(RECALL), toolChoice: "none" });
  assertRecalled(recalled.text);
  await assertGoneOn(tenant, [FACT, said, RECALL]);
}

async function ask(call) {
  const result = started(call);
  for await (const part of partsOf(result)) if (part.type === "error") throw part.error;
  const { finalStep, messages } = await endOf(result);
  return { text: finalStep.text, messages, responseId: finalStep.response.id };
}

/** Reads a stream up to the moment, and aborts: the id that the response was announced with. */
async function leave(call, moment) {
  const leaving = new AbortController();
  const result = started({ ...call, abortSignal: leaving.signal });
  let responseId;
  for await (const part of partsOf(result)) {
    if (part.type !== "raw") continue;
    responseId ??= part.rawValue.response?.id;
    if (isToldBy(part.rawValue, moment)) leaving.abort();
  }
  return { messages: [], responseId };
}

function started(call) {
  const { tools } = newEcho();
  return streamText({
    tools,
    maxRetries: 0,
    stopWhen: isStepCount(5),
    abortSignal: AbortSignal.timeout(TIMEOUT),
    includeRawChunks: true,
    onError: () => {},
    ...call,
  });
}

function failing() {
  return tool({
    description: "Says the text again.",
    inputSchema: z.object({ text: z.string() }),
    execute: async () => {
      throw new Error("the tool failed");
    },
  });
}
