import { refuseOtherOptions, refuseOtherThanFunction } from "../arguments.js";
import { native } from "../native.js";
import { accountOf } from "./account.js";
import { headersOf, readCall } from "./call.js";
import { emitWarningOfMends } from "./report.js";
import type { TurnReport } from "./report.js";
import { placeOf } from "./place.js";
import { takeTurn } from "./turn.js";

/** What `wholeFetch` may be told. */
export interface WholeFetchOptions {
  /**
   * What sends requests; the global `fetch` where nothing is given. Keys that it adds itself are not
   * seen here: one that adds those of several accounts needs a `wholeFetch` for each.
   */
  fetch?: typeof globalThis.fetch;
  /**
   * Is told of each request of which something was left out or mended. Without it, what was mended
   * is a warning of the process (`ANTIPHON_MENDED`); what was merely left out is told in a header
   * alone. What it throws is such a warning too (`ANTIPHON_REPORT`): the answer is on the way.
   */
  onReport?: (report: TurnReport) => void;
}

/**
 * A `fetch` for clients of a server that keeps the state: `new OpenAI({ fetch: wholeFetch() })`,
 * `createOpenAI({ fetch: wholeFetch() })`.
 *
 * Of a `POST …/responses` it sends what the server does not hold yet, and mends what the server would
 * refuse. Where it does not know what a conversation or a chain holds, it asks, with the headers and
 * the query of the request. Answers come as the server gives them, byte for byte, with two headers
 * more: `antiphon-resent: N`, how many items were left out, and `antiphon-repairs: fault=N, …`, where
 * anything was mended. All other requests pass.
 *
 * What is known is kept here, for all clients that are given the same `wholeFetch`, apart for each base
 * URL and key.
 */
export function wholeFetch(options: WholeFetchOptions = {}): typeof globalThis.fetch {
  refuseOtherThanOptions(options);
  const companion = new native.Companion();
  const send: typeof globalThis.fetch =
    options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const onReport = options.onReport ?? emitWarningOfMends;
  return async function fetch(input, init) {
    const place = placeOf(input, init);
    if (place === undefined) return send(input, init);
    const account = accountOf(place.base, headersOf(input, init));
    if (place.kind === "conversation") {
      try {
        return await send(input, init);
      } finally {
        companion.touched(account, place.conversation);
      }
    }
    const call = await readCall(input, init);
    const turn = call.body && companion.open(account, call.body);
    return turn ? takeTurn({ turn, call, base: place.base, send, onReport }) : send(call.input, call.init);
  };
}

function refuseOtherThanOptions(options: WholeFetchOptions): void {
  if (typeof options === "string" || options instanceof URL || options instanceof Request) {
    throw new TypeError(
      "wholeFetch was called with an address: it is no fetch, but makes one. Give `fetch: wholeFetch()`.",
    );
  }
  refuseOtherOptions(options, ["fetch", "onReport"]);
  refuseOtherThanFunction(options.fetch, "fetch");
  refuseOtherThanFunction(options.onReport, "onReport");
}
