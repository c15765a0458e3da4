import type { UnderlyingSource } from "node:stream/web";

import type { Report, Turn } from "../native.js";
import { unixNow } from "../streams/converted-events.js";
import { decodedHeaders, withOtherBody } from "./buffered-answer.js";

/** The answer for the caller, corrected by the turn. */
export function relayed(answer: Response, turn: Turn, added: Report["headers"]): Response {
  const headers = decodedHeaders(answer);
  for (const [name, value] of added) headers.set(name, value);
  turn.start(isEventStream(answer), unixNow());
  if (answer.body === null) {
    turn.finish(unixNow());
    return withOtherBody(answer, null, headers);
  }
  headers.delete("content-length");
  return withOtherBody(answer, corrected(answer.body, turn), headers);
}

function isEventStream(answer: Response): boolean {
  return /^\s*text\/event-stream\b/i.test(answer.headers.get("content-type") ?? "");
}

/** Passes the corrected bytes on. Reads only as much as the reader requests. */
function corrected(body: ReadableStream<Uint8Array>, turn: Turn): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const source: UnderlyingSource<Uint8Array> = {
    async pull(controller) {
      try {
        for (;;) {
          const { done, value } = await reader.read();
          const bytes = done ? turn.finish(unixNow()) : turn.push(value, unixNow());
          if (bytes.byteLength > 0) controller.enqueue(bytes);
          if (done) controller.close();
          if (done || bytes.byteLength > 0) return;
        }
      } catch (error) {
        turn.abandon();
        throw error;
      }
    },
    cancel(reason) {
      turn.abandon();
      return reader.cancel(reason);
    },
  };
  const stream = new ReadableStream(source, { highWaterMark: 0 });
  dropped.register(stream, { reader, turn });
  return stream;
}

/** Cancels answers that were garbage collected, because `fetch` does so only for its own bodies. */
const dropped = new FinalizationRegistry<Relay>(({ reader, turn }) => {
  turn.abandon();
  reader.cancel().catch(() => {});
});

/** The source of a relayed answer, without a reference to the answer. */
interface Relay {
  reader: ReadableStreamDefaultReader<Uint8Array>;
  turn: Turn;
}
