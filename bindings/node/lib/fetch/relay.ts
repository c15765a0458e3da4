import type { UnderlyingSource } from "node:stream/web";

import type { Report, Turn } from "../native.js";
import { decodedHeaders, withOtherBody } from "./buffered-answer.js";

/** The answer for the caller. The turn observes its bytes. */
export function relayed(answer: Response, turn: Turn, added: Report["headers"]): Response {
  const headers = decodedHeaders(answer);
  for (const [name, value] of added) headers.set(name, value);
  turn.start(isEventStream(answer));
  if (answer.body === null) {
    turn.finish();
    return withOtherBody(answer, null, headers);
  }
  return withOtherBody(answer, observed(answer.body, turn), headers);
}

function isEventStream(answer: Response): boolean {
  return /^\s*text\/event-stream\b/i.test(answer.headers.get("content-type") ?? "");
}

/** Passes the bytes on. Reads only as much as the reader requests. */
function observed(body: ReadableStream<Uint8Array>, turn: Turn): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const source: UnderlyingSource<Uint8Array> = {
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          turn.finish();
          controller.close();
        } else {
          turn.push(value);
          controller.enqueue(value);
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
