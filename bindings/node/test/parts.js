// Sources of stream parts, and helpers for the converted streams.

/** An async iterable of these parts that ends with `ending`. */
export async function* partsOf(parts, ending = () => {}) {
  yield* parts;
  await ending();
}

/** All events of a stream. */
export async function eventsOf(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The types of all events of a stream. */
export const types = (events) => events.map(({ type }) => type);

/** The events of a type. */
export const ofType = (events, type) => events.filter((event) => event.type === type);

/** A `finish` of a model. */
export const FINISH = {
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 },
  },
};

/** A text of a model, in pieces. */
export function text(...pieces) {
  const deltas = pieces.map((delta) => ({ type: "text-delta", id: "t1", delta }));
  return [{ type: "text-start", id: "t1" }, ...deltas, { type: "text-end", id: "t1" }];
}
