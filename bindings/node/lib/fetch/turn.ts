import { setTimeout as sleep } from "node:timers/promises";

import type { Report, Turn } from "../native.js";
import { optionsOfRequest, signalOf, withBody } from "./call.js";
import type { Call } from "./call.js";
import { bufferedAnswer, readAtMost } from "./buffered-answer.js";
import { nothingPosted } from "./delivery.js";
import { relayed } from "./relay.js";
import { callReporter, nonEmptyReport } from "./report.js";
import type { TurnReport } from "./report.js";
import { addressOf } from "./route.js";

/** A turn, its request, and the functions that it uses. */
export interface TurnCall {
  turn: Turn;
  call: Call;
  /** The base URL, with the request's query. */
  base: URL;
  send: typeof globalThis.fetch;
  onReport: (report: TurnReport) => void;
}

/** Carries out the turn's steps until the server answers or finally rejects the request. */
export async function takeTurn(given: TurnCall): Promise<Response> {
  try {
    const answer = await steps(given);
    return answer.ok ? answer : refused(answer, given);
  } catch (error) {
    given.turn.abandon();
    throw error;
  }
}

async function steps({ turn, call, base, send, onReport }: TurnCall): Promise<Response> {
  let listing: Response | undefined;
  let refusal: Response | undefined;
  for (;;) {
    const wait = turn.wait();
    if (wait !== null) await delay(wait, signalOf(call));
    const step = turn.step();
    switch (step.kind) {
      case "ask": {
        const options = optionsOfRequest(call, step.method);
        const answer = await send(addressOf(base, step.path), options);
        const bytes = await readAtMost(answer);
        listing = bufferedAnswer(answer, bytes);
        turn.recordAnswer(answer.status, bytes);
        break;
      }
      case "send": {
        const sent = step.body ? withBody(call, step.body) : ([call.input, call.init] as const);
        const answer = await send(copyOf(sent[0]), sent[1]);
        if (answer.ok) return relayed(answer, turn, reported(turn, onReport));
        const bytes = await readAtMost(answer);
        refusal = bufferedAnswer(answer, bytes);
        turn.recordRejection(answer.status, bytes);
        break;
      }
      case "nothing":
        return refusal ?? nothingPosted();
      default: {
        const last = refusal ?? listing;
        if (last === undefined) throw new Error("A turn was given up before its first request.");
        return last;
      }
    }
  }
}

/** A rejection, with the headers that report the changes of the request. */
function refused(answer: Response, { turn, onReport }: TurnCall): Response {
  for (const [name, value] of reported(turn, onReport)) answer.headers.set(name, value);
  turn.abandon();
  return answer;
}

/** Reports the changes of the request. Returns the headers of the report. */
function reported(turn: Turn, onReport: TurnCall["onReport"]): Report["headers"] {
  const report = turn.report();
  const changes = nonEmptyReport(report);
  if (changes) callReporter(onReport, changes);
  return report.headers;
}

/** Waits. If the caller aborts, throws the same error as `fetch`. */
async function delay(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal && { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

/** A copy of a `Request`, which can be sent only once, because a turn may be sent twice. */
function copyOf(input: Call["input"]): Call["input"] {
  return input instanceof Request && !input.bodyUsed ? input.clone() : input;
}
