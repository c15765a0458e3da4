import { loadAddon } from "./addon.cjs";

/** The compiled module: values in, values out. Nothing of it is public. */
export interface Native {
  version(): string;
  /** Writes a string as it stands in JSON, from a position on; returns how many bytes it takes. */
  quote(text: string, into: Uint8Array, at: number): number;
  check(items: Text, held: Text | undefined): string;
  repair(items: Text, held: Text | undefined, policy: string): string;
  filterOrphanedReasoning(items: Text): string;
  strip(items: Text): string;
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
  readonly Companion: new () => Companion;
}

/** A JSON text, or its bytes. */
export type Text = string | Uint8Array;

/** The tracker over JSON texts. */
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

/** A conversion of one answer, over lines of JSON. */
export interface NativeConversion {
  /** From here on events are told as they stand in an event stream, else as JSON. */
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

/** What is known of the conversations and chains of servers, beside a client. */
export interface Companion {
  /** Begins a turn; `null` for a body that begins none, which the server itself will refuse. */
  open(account: string, body: string | Uint8Array): Turn | null;
  /**
   * Begins the delivery of items to a conversation without a turn of the model's; `null` for what is
   * no array of items.
   */
  deliver(account: string, conversation: string, items: string | Uint8Array): Turn | null;
  /** Something else than a turn changed the conversation. */
  touched(account: string, conversation: string): void;
}

/** One turn, from the request to the end of its answer. */
export interface Turn {
  step(): Step;
  /** How many milliseconds to wait before doing that. */
  wait(): number | null;
  answered(status: number, body: Uint8Array): void;
  refused(status: number, body: Uint8Array): void;
  begun(isEventStream: boolean): void;
  heard(bytes: Uint8Array): void;
  ended(): void;
  left(): void;
  report(): Report;
}

/** What is to be done next. */
export type Step =
  | { kind: "ask"; method: "GET" | "POST" | "DELETE"; path: string; body?: Uint8Array }
  /** Without a body: the one that came, as it is. */
  | { kind: "send"; body?: Uint8Array }
  | { kind: "give_up" }
  | { kind: "nothing" };

/** What was left out of a request and mended in it, and the headers that tell of it. */
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

/** What the engine does not do, and why: nothing changed. */
export class AntiphonError extends Error {
  /** The error's name: `"not_in_flight"`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "AntiphonError";
    this.code = code;
  }
}

/** What was given is not of the form that is asked for. */
const OF_FORM = new Set(["unreadable", "policy", "options", "conversion"]);

/** The result of a call of the native module; its errors as those of this package. */
export function called<R>(call: () => R): R {
  try {
    return call();
  } catch (error) {
    const { code = "InvalidArg", message } = error as NodeJS.ErrnoException;
    const isOfForm = OF_FORM.has(code) || /^[A-Z]/.test(code);
    throw isOfForm
      ? Object.assign(new TypeError(message), { code })
      : new AntiphonError(code, message);
  }
}
