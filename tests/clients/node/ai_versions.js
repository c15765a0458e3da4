// The names that differ between versions 5 and 7 of the AI SDK.

import * as ai from "ai";

export const isStepCount = ai.isStepCount ?? ai.stepCountIs;

/** The parts of a result that `streamText` began. */
export const partsOf = (result) => result.stream ?? result.fullStream;

/** The last step of a result, and all new messages. */
export async function endOf(result) {
  const finalStep = (await result.steps).at(-1);
  const messages = (await result.responseMessages) ?? (await result.response).messages;
  return { finalStep, messages };
}
