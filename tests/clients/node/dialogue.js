// The dialogue that every client holds: a fact, a tool call, a recall.

import assert from "node:assert/strict";
import { tool } from "ai";
import { z } from "zod";

const FACT = "My color is purple, dog is Biscuit";
const ECHO = "Echo hello";
const ECHO_TWICE = "Echo hello twice";
const RECALL = "What is my color and dog name?";

/** Which model answers, and how many calls its tool turn makes. */
export const SCENES = {
  one_call: { model: "fake-model", calls: 1 },
  two_calls: { model: "fake-model", calls: 2 },
  // It answers in no conversation that a provider keeps.
  ...(process.env.UPSTREAM_ON_ABORT ? {} : { sim: { model: "sim", calls: 1 } }),
};

/** The local tool `echo(text) -> text`, and what it heard. */
export function newEcho() {
  const heard = [];
  const echo = tool({
    description: "Says the text again.",
    inputSchema: z.object({ text: z.string() }),
    execute: async ({ text }) => {
      heard.push(text);
      return text;
    },
  });
  return { tools: { echo }, heard };
}

/** Says the three things through `ask`, and checks the answers and the tool. */
export async function holdDialogue(scene, ask, echo) {
  const said = [FACT, scene.calls === 1 ? ECHO : ECHO_TWICE, RECALL];
  const answers = [];
  for (const text of said) answers.push(await ask(text));

  const [acknowledgement, echoed, recalled] = answers;
  assert.notEqual(acknowledgement, "", "the fact was not answered");
  assert.equal(echo.heard.length, scene.calls, `the tool ran for ${echo.heard}`);
  for (const text of echo.heard) assert.match(text, /hello/);
  assert.match(echoed, /hello/);
  assert.match(recalled, /purple/);
  assert.match(recalled, /Biscuit/);
  return { said, answers, calls: scene.calls };
}
