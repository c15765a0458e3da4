import { refuseOtherOptions, refuseOtherThanFunction } from "../arguments.js";
import { native } from "../native.js";
import { accountOf } from "./account.js";
import { headersOf, readCall } from "./call.js";
import { addDeliveringFetch, itemsOf } from "./delivery.js";
import { emitWarningOfMends } from "./report.js";
import type { TurnReport } from "./report.js";
import { routeOf } from "./route.js";
import { takeTurn } from "./turn.js";

/** Options of `statefulFetch`. */
export interface StatefulFetchOptions {
  /**
   * The function that sends requests; by default the global `fetch`. If it adds keys itself, they
   * do not separate accounts here: create one `statefulFetch` for each account.
   */
  fetch?: typeof globalThis.fetch;
  /**
   * Called for each request that was changed. Without it, repairs are reported in a process warning
   * (`ANTIPHON_MENDED`), and items that were left out only in a header. If it throws, a process
   * warning (`ANTIPHON_REPORT`) is emitted, because the answer has already arrived.
   */
  onReport?: (report: TurnReport) => void;
}

/** An alias of `StatefulFetchOptions`. */
export type WholeFetchOptions = StatefulFetchOptions;

/**
 * Creates a `fetch` for clients of a server that stores conversations:
 * `new OpenAI({ fetch: statefulFetch() })`, `createOpenAI({ fetch: statefulFetch() })`.
 *
 * For a `POST …/responses` it sends the items that the server does not hold yet, and repairs input
 * that the server would reject. If it does not know the items of a conversation or chain, it lists
 * them with the headers and the query of the request. All other requests pass unchanged.
 *
 * Answers are well-formed: each call is there once, even if the server repeats it, and an event
 * stream ends with one terminal event. They have two more headers: `antiphon-resent: N`, the number
 * of items left out, and `antiphon-repairs: fault=N, …`, if anything was repaired.
 *
 * The function remembers the state for all clients that use it, separately for each base URL and
 * key.
 */
export function statefulFetch(options: StatefulFetchOptions = {}): typeof globalThis.fetch {
  refuseOtherThanOptions(options);
  const client = new native.StatefulClient();
  const send: typeof globalThis.fetch =
    options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const onReport = options.onReport ?? emitWarningOfMends;
  addDeliveringFetch(fetch, deliver);
  return fetch;

  async function fetch(input: Target, init?: RequestInit): Promise<Response> {
    const route = routeOf(input, init);
    if (route === undefined) return send(input, init);
    const headers = headersOf(input, init);
    const account = accountOf(route.base, headers);
    if (route.kind === "conversation") {
      try {
        return await send(input, init);
      } finally {
        client.markStale(account, route.conversation);
      }
    }
    const call = await readCall(input, init);
    const userAgent = headers.get("user-agent") ?? "";
    const turn = call.body && client.open(account, userAgent, call.body);
    if (!turn) return send(call.input, call.init);
    return takeTurn({ turn, call, base: route.base, send, onReport });
  }

  async function deliver(input: Target, init?: RequestInit): Promise<Response> {
    const route = routeOf(input, init);
    if (route?.kind !== "conversation") return send(input, init);
    const call = await readCall(input, init);
    const account = accountOf(route.base, call.headers);
    const turn = client.deliver(account, route.conversation, itemsOf(call.body));
    if (turn === null) throw new TypeError("A delivery needs an array of items.");
    return takeTurn({ turn, call, base: route.base, send, onReport });
  }
}

type Target = string | URL | Request;

/** An alias of `statefulFetch`. */
export const wholeFetch = statefulFetch;

function refuseOtherThanOptions(options: StatefulFetchOptions): void {
  if (typeof options === "string" || options instanceof URL || options instanceof Request) {
    throw new TypeError(
      "statefulFetch was called with a URL, but it creates a fetch. Use `fetch: statefulFetch()`.",
    );
  }
  refuseOtherOptions(options, ["fetch", "onReport"]);
  refuseOtherThanFunction(options.fetch, "fetch");
  refuseOtherThanFunction(options.onReport, "onReport");
}
