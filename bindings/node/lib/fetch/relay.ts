import type { UnderlyingSource } from "node:stream/web";

import type { Turn } from "../native.js";
import { decodedHeaders, madeOf } from "./kept-answer.js";
import { repairsOf } from "./report.js";
import type { TurnReport } from "./report.js";

/** The answer for the caller: its bytes as they come, and the turn hears them. */
export function relayed(answer: Response, turn: Turn, report: TurnReport): Response {
  const headers = decodedHeaders(answer);
  headers.set("antiphon-resent", String(report.resent));
  if (report.mends.length > 0) headers.set("antiphon-repairs", repairsOf(report));
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
  return new ReadableStream(source, { highWaterMark: 0 });
}
