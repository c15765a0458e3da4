import { loadAddon } from "./addon.cjs";

/** The compiled module. It is private to the package. */
export interface Native {
  version(): string;
  /** Writes a string as JSON at a position; returns the number of bytes. */
  quote(text: string, into: Uint8Array, at: number): number;
  check(items: Text, held: Text | undefined): string;
  repair(items: Text, held: Text | undefined, policy: string): string;
  filterOrphanedReasoning(items: Text): string;
  marker(request: Text): string | null;
  strip(items: Text, policy: string): string;
  reconcile(held: Text, items: Text): string;
  readonly Tracker: {
    new (options: string): NativeTracker;
    fromSnapshot(snapshot: string): NativeTracker;
  };
  readonly Conversion: new (
    from: string,
    to: string,
    request: string | undefined,
    eventNames: string | undefined,
    now: number,
  ) => NativeConversion;
  readonly StatefulClient: new () => StatefulClient;
}

/** A JSON text, or its bytes. */
export type Text = string | Uint8Array;

/** The tracker with JSON texts. */
export interface NativeTracker {
  add(items: Text): number[];
  plan(): string;
  send(occurrences: number[]): number;
  sendFiltered(returned: Text): number;
  accept(attempt: number, response: Text): void;
  rewind(attempt: number): number[];
  hydrate(held: Text): number[];
  unresolved(): string;
  standing(occurrence: number): string;
  readonly turns: number;
  readonly conversation: string | null;
  readonly previousResponseId: string | null;
  finish(): void;
  readonly isFinished: boolean;
  snapshot(): string;
}

/** A conversion of one answer, with lines of JSON. */
export interface NativeConversion {
  /** Switches the output of events from JSON to the format of an event stream. */
  writeEventStream(): void;
  push(line: string): string[];
  finish(now: number): Converted | null;
}

/** The end of a conversion. */
export interface Converted {
  events: string[];
  folded: string;
  notes: string[];
  error?: string;
}

/** The known state of conversations and chains, for a client. */
export interface StatefulClient {
  /** Begins a turn. Returns `null` for an invalid body, which the server itself will reject. */
  open(account: string, userAgent: string, body: string | Uint8Array): Turn | null;
  /**
   * Begins the delivery of items to a conversation without a model turn. Returns `null` if the text
   * is not an array of items.
   */
  deliver(account: string, conversation: string, items: string | Uint8Array): Turn | null;
  /** Records that a request other than a turn changed the conversation. */
  markStale(account: string, conversation: string): void;
}

/** One turn, from the request to the end of its answer. */
export interface Turn {
  step(): Step;
  /** The milliseconds to wait before the next step. */
  wait(): number | null;
  recordAnswer(status: number, body: Uint8Array): void;
  recordRejection(status: number, body: Uint8Array): void;
  start(isEventStream: boolean, now: number): void;
  /** Takes the next bytes of the answer, and returns those for the caller. */
  push(bytes: Uint8Array, now: number): Uint8Array;
  /** Ends the answer, and returns the last bytes for the caller. */
  finish(now: number): Uint8Array;
  abandon(): void;
  report(): Report;
}

/** The next step of a turn. */
export type Step =
  | { kind: "ask"; method: "GET" | "DELETE"; path: string }
  /** Without a body: send the original body. */
  | { kind: "send"; body?: Uint8Array }
  | { kind: "give_up" }
  | { kind: "nothing" };

/** The items that were left out of a request, its repairs, and the headers of this report. */
export interface Report {
  resent: number;
  mends: {
    position: number | null;
    id: string | null;
    kind: string;
    fault: string;
    action: string;
    message: string;
  }[];
  relearned?: string;
  byKind: boolean;
  headers: [name: string, value: string][];
}

export const native = loadAddon() as Native;

/** The engine rejected an operation, and nothing changed. */
export class AntiphonError extends Error {
  /** The error's name: `"not_in_flight"`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "AntiphonError";
    this.code = code;
  }
}

/** The codes of errors about invalid arguments. */
const ARGUMENT_CODES = new Set(["unreadable", "policy", "options", "conversion"]);

/** Calls the native module, and converts its errors to those of this package. */
export function called<R>(call: () => R): R {
  try {
    return call();
  } catch (error) {
    const { code = "InvalidArg", message } = error as NodeJS.ErrnoException;
    const isArgumentError = ARGUMENT_CODES.has(code) || /^[A-Z]/.test(code);
    throw isArgumentError
      ? Object.assign(new TypeError(message), { code })
      : new AntiphonError(code, message);
  }
}
