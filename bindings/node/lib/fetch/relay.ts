import type { UnderlyingSource } from "node:stream/web";

import type { Report, Turn } from "../native.js";
import { decodedHeaders, madeOf } from "./kept-answer.js";

/** The answer for the caller: its bytes as they come, and the turn hears them. */
export function relayed(answer: Response, turn: Turn, told: Report["headers"]): Response {
  const headers = decodedHeaders(answer);
  for (const [name, value] of told) headers.set(name, value);
  turn.begun(isEventStream(answer));
  if (answer.body === null) {
    turn.ended();
    return madeOf(answer, null, headers);
  }
  return madeOf(answer, heard(answer.body, turn), headers);
}

function isEventStream(answer: Response): boolean {
  return /^\s*text\/event-stream\b/i.test(answer.headers.get("content-type") ?? "");
}

/** Reads no more than is asked for. */
function heard(body: ReadableStream<Uint8Array>, turn: Turn): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const source: UnderlyingSource<Uint8Array> = {
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          turn.ended();
          controller.close();
        } else {
          turn.heard(value);
          controller.enqueue(value);
        }
      } catch (error) {
        turn.left();
        throw error;
      }
    },
    cancel(reason) {
      turn.left();
      return reader.cancel(reason);
    },
  };
  const stream = new ReadableStream(source, { highWaterMark: 0 });
  dropped.register(stream, { reader, turn });
  return stream;
}

/** Answers that nobody holds any more: `fetch` lets go of the connections of its own only. */
const dropped = new FinalizationRegistry<Relay>(({ reader, turn }) => {
  turn.left();
  reader.cancel().catch(() => {});
});

/** What an answer is relayed from, without the answer itself. */
interface Relay {
  reader: ReadableStreamDefaultReader<Uint8Array>;
  turn: Turn;
}
