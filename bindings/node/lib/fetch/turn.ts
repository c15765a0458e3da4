import { setTimeout as sleep } from "node:timers/promises";

import type { Report, Turn } from "../native.js";
import { questionOf, signalOf, withBody } from "./call.js";
import type { Call } from "./call.js";
import { keptAnswer, readAtMost } from "./kept-answer.js";
import { addressOf } from "./place.js";
import { relayed } from "./relay.js";
import { noteworthy, told } from "./report.js";
import type { TurnReport } from "./report.js";

/** A turn, and what it is taken with. */
export interface TurnCall {
  turn: Turn;
  call: Call;
  /** The base URL, with the request's query. */
  base: URL;
  send: typeof globalThis.fetch;
  onReport: (report: TurnReport) => void;
}

/** Does what the turn says until the server answers, or refuses for good. */
export async function takeTurn(given: TurnCall): Promise<Response> {
  try {
    const answer = await steps(given);
    return answer.ok ? answer : refused(answer, given);
  } catch (error) {
    given.turn.left();
    throw error;
  }
}

async function steps({ turn, call, base, send, onReport }: TurnCall): Promise<Response> {
  let said: Response | undefined;
  let refusal: Response | undefined;
  for (;;) {
    const wait = turn.wait();
    if (wait !== null) await waited(wait, signalOf(call));
    const step = turn.step();
    switch (step.kind) {
      case "ask": {
        const question = questionOf(call, step.method, step.body);
        const answer = await send(addressOf(base, step.path), question);
        const bytes = await readAtMost(answer);
        said = keptAnswer(answer, bytes);
        turn.answered(answer.status, bytes);
        break;
      }
      case "send": {
        const sent = step.body ? withBody(call, step.body) : ([call.input, call.init] as const);
        const answer = await send(again(sent[0]), sent[1]);
        if (answer.ok) return relayed(answer, turn, reported(turn, onReport));
        const bytes = await readAtMost(answer);
        refusal = keptAnswer(answer, bytes);
        turn.refused(answer.status, bytes);
        break;
      }
      default: {
        const last = refusal ?? said;
        if (last === undefined) throw new Error("A turn was given up before anything was asked.");
        return last;
      }
    }
  }
}

/** A refusal; what was done to the request, and deleted for it, is told all the same. */
function refused(answer: Response, { turn, onReport }: TurnCall): Response {
  for (const [name, value] of reported(turn, onReport)) answer.headers.set(name, value);
  turn.left();
  return answer;
}

/** Tells what was done to the request. The headers that tell of it. */
function reported(turn: Turn, onReport: TurnCall["onReport"]): Report["headers"] {
  const report = turn.report();
  const noted = noteworthy(report);
  if (noted) told(onReport, noted);
  return report.headers;
}

/** Waits, and fails as `fetch` does where the caller aborts meanwhile. */
async function waited(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal && { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

/** A `Request` can be sent once: what is sent is a copy, since a turn may be sent twice. */
function again(input: Call["input"]): Call["input"] {
  return input instanceof Request && !input.bodyUsed ? input.clone() : input;
}
