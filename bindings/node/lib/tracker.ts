import {
  refuseOtherOptions,
  refuseOtherThanNumber,
  refuseOtherThanObject,
  refused,
} from "./arguments.js";
import type { Item } from "./item.js";
import { textOf, valueText } from "./json.js";
import { AntiphonError, called, native } from "./native.js";
import type { NativeTracker } from "./native.js";

/** The owner of a run's state: one of the first three. */
export interface TrackerOptions {
  conversation?: string;
  previousResponseId?: string;
  /** The run's responses form a chain. */
  autoPreviousResponseId?: boolean;
  /** Whether reasoning is sent with its ids; default `"keep"`. */
  reasoningIds?: "keep" | "omit";
}

/** The items of the next request, and the reasons why others are not sent. */
export interface Plan<T> {
  /** The items to send. An unchanged item is the same object that was added. */
  items: { occurrence: number; item: T }[];
  leftOut: { occurrence: number; reason: LeftOutReason; attempt?: number }[];
  /** The `conversation` of the request. */
  conversation: string | null;
  /** The `previous_response_id` of the request. */
  previousResponseId: string | null;
}

/** The reason why an item is not sent. */
export type LeftOutReason =
  | "accepted"
  | "in_flight"
  | "held_id"
  | "held_reasoning"
  | "held_call"
  | "held_output"
  | "repeated"
  | "approval_placeholder"
  | "call_not_held";

/** Open matters that can make the next request fail. */
export interface Unresolved {
  /** Calls that the server has and that no output answers. */
  calls: { id: string | null; kind: string; call_id: string }[];
  /** The numbers of outputs whose calls the server may not have. */
  outputs: number[];
  /** Requests without an answer. */
  attempts: number[];
}

/** The fields of a response that a tracker uses. It has an id, an output, or an error. */
export interface TrackedResponse {
  id?: string | null;
  output?: readonly Item[] | null;
  status?: string | null;
  error?: object | null;
}

/** The state of an item. */
export type Standing =
  | { standing: "pending" }
  | { standing: "sent"; attempt: number }
  | { standing: "accepted" };

/**
 * Tracks the items that one run has sent to the server, and those that it has yet to send.
 *
 * `add` returns a number for each item, `send` one for each request; other methods refer to items
 * and requests by these numbers, also after a restore. A method that throws an `AntiphonError` has
 * changed nothing.
 */
export class Tracker<T extends Item = Item> {
  readonly #tracker: NativeTracker;
  /** The added objects that are not accepted yet. */
  readonly #added = new Map<number, T>();

  /** Creates a tracker for a new run. */
  constructor(options: TrackerOptions);
  constructor(options: TrackerOptions | Restored) {
    this.#tracker =
      options instanceof Restored
        ? called(() => native.Tracker.fromSnapshot(options.snapshot))
        : newTracker(options);
  }

  /** Restores a tracker from the JSON of `JSON.stringify(tracker)`. */
  static fromJSON<T extends Item = Item>(snapshot: string | object): Tracker<T> {
    if (typeof snapshot !== "string") refuseOtherThanObject(snapshot, "snapshot");
    const text = typeof snapshot === "string" ? snapshot : JSON.stringify(snapshot);
    return new Tracker<T>(new Restored(text) as TrackerOptions);
  }

  /** Adds items: initial input, later input, tool outputs. Returns the number of each. */
  add(items: readonly T[]): number[] {
    const text = textOf(items, "items");
    const occurrences = called(() => this.#tracker.add(text));
    occurrences.forEach((occurrence, index) => this.#added.set(occurrence, items[index] as T));
    return occurrences;
  }

  /** Returns the content of the next request. Changes nothing. */
  plan(): Plan<T> {
    const plan = JSON.parse(this.#tracker.plan()) as NativePlan<T>;
    const items = plan.items.map(({ occurrence, is_as_added, item }) => {
      const added = is_as_added ? this.#added.get(occurrence) : undefined;
      return { occurrence, item: added ?? item };
    });
    const { conversation, previous_response_id, left_out } = plan;
    return { items, leftOut: left_out, conversation, previousResponseId: previous_response_id };
  }

  /** Marks items as sent. Call it right before the request. Returns the request's number. */
  send(occurrences: readonly number[]): number {
    if (!Array.isArray(occurrences)) throw refused("occurrences", "must be an array", occurrences);
    const sent = [...(occurrences as readonly number[])];
    sent.forEach((one, index) => refuseOtherThanNumber(one, `occurrences[${index}]`, "add"));
    return called(() => this.#tracker.send(sent));
  }

  /**
   * Marks items as sent that a filter returned instead of the plan's. An item may have the number
   * of the planned item that it replaces. Returns the request's number.
   */
  sendFiltered(returned: readonly { item: Item; occurrence?: number }[]): number {
    const text = textOf(returned, "returned");
    return called(() => this.#tracker.sendFiltered(text));
  }

  /**
   * Records a response: the server now has the request's items and the response's output. Throws an
   * `AntiphonError` with the code `failed` for a failed response: nothing changes, and you call
   * `rewind`.
   */
  accept(attempt: number, response: TrackedResponse): void {
    refuseOtherThanNumber(attempt, "attempt", "send");
    refuseOtherThanObject(response, "response");
    const { id, output, status, error } = response;
    const text = valueText({ id, output, status, error }, "response");
    called(() => this.#tracker.accept(attempt, text));
    this.#forgetAccepted();
  }

  /** Records that the request failed. Returns its items, which are pending again. */
  rewind(attempt: number): number[] {
    refuseOtherThanNumber(attempt, "attempt", "send");
    return called(() => this.#tracker.rewind(attempt));
  }

  /**
   * Takes `held`, the server's list, as its full state. Returns the sent items that it contains,
   * which are now accepted.
   */
  hydrate(held: readonly Item[]): number[] {
    const text = textOf(held, "held");
    const accepted = called(() => this.#tracker.hydrate(text));
    this.#forgetAccepted();
    return accepted;
  }

  /** Returns calls, outputs and requests that can make the next request fail. */
  unresolved(): Unresolved {
    return JSON.parse(this.#tracker.unresolved()) as Unresolved;
  }

  /** The state of an item; `undefined` for an unknown number. */
  standing(occurrence: number): Standing | undefined {
    refuseOtherThanNumber(occurrence, "occurrence", "add");
    return (JSON.parse(this.#tracker.standing(occurrence)) as Standing | null) ?? undefined;
  }

  /** The number of accepted responses. */
  get turns(): number {
    return this.#tracker.turns;
  }

  /** The `conversation` of the next request. */
  get conversation(): string | undefined {
    return this.#tracker.conversation ?? undefined;
  }

  /** The `previous_response_id` of the next request. */
  get previousResponseId(): string | undefined {
    return this.#tracker.previousResponseId ?? undefined;
  }

  /** Ends the run: no items can be added after it. */
  finish(): void {
    this.#tracker.finish();
  }

  /** Whether the run has ended. */
  get isFinished(): boolean {
    return this.#tracker.isFinished;
  }

  /** The tracker as plain JSON for `Tracker.fromJSON`, including unanswered requests. */
  toJSON(): object {
    return JSON.parse(this.#tracker.snapshot()) as object;
  }

  #forgetAccepted(): void {
    for (const occurrence of this.#added.keys()) {
      if (this.standing(occurrence)?.standing === "accepted") this.#added.delete(occurrence);
    }
  }
}

class Restored {
  constructor(readonly snapshot: string) {}
}

interface NativePlan<T> {
  items: { occurrence: number; is_as_added: boolean; item: T }[];
  left_out: Plan<T>["leftOut"];
  conversation: string | null;
  previous_response_id: string | null;
}

/** The native module's names of the options. */
const NATIVE_NAMES: Readonly<Record<keyof TrackerOptions, string>> = {
  conversation: "conversation",
  previousResponseId: "previous_response_id",
  autoPreviousResponseId: "auto_previous_response_id",
  reasoningIds: "reasoning_ids",
};

function newTracker(options: TrackerOptions): NativeTracker {
  refuseOtherThanTrackerOptions(options);
  const names = Object.entries(NATIVE_NAMES) as [keyof TrackerOptions, string][];
  const named = names.map(([name, nativeName]) => [nativeName, options[name]]);
  try {
    return called(() => new native.Tracker(JSON.stringify(Object.fromEntries(named))));
  } catch (error) {
    throw error instanceof AntiphonError ? withOwnNames(error) : error;
  }
}

function refuseOtherThanTrackerOptions(options: TrackerOptions): void {
  refuseOtherOptions(options, Object.keys(NATIVE_NAMES));
  for (const name of ["conversation", "previousResponseId"] as const) {
    refuseOtherThan(isId(options[name]), name, "must be an id", options[name]);
  }
  const chained = options.autoPreviousResponseId;
  const isBoolean = typeof chained === "boolean";
  refuseOtherThan(isBoolean, "autoPreviousResponseId", "must be true or false", chained);
  const isKnown = options.reasoningIds === "keep" || options.reasoningIds === "omit";
  refuseOtherThan(isKnown, "reasoningIds", 'must be "keep" or "omit"', options.reasoningIds);
}

/** Throws if a value is given and not valid. */
function refuseOtherThan(isValid: boolean, name: string, need: string, given: unknown): void {
  if (given !== undefined && !isValid) throw refused(name, need, given);
}

function isId(given: unknown): boolean {
  return typeof given === "string" && given !== "";
}

/** Replaces the native names of options in an error message. */
function withOwnNames({ code, message }: AntiphonError): AntiphonError {
  const inCamelCase = (name: string): string =>
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return new AntiphonError(code, message.replace(/\b[a-z]+(_[a-z]+)+\b/g, inCamelCase));
}
