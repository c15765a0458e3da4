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

/** Who owns the state of a run: one of the first three, or `session`. */
export interface TrackerOptions {
  conversation?: string;
  previousResponseId?: string;
  /** The responses of the run are chained, each to the one before. */
  autoPreviousResponseId?: boolean;
  /** The client keeps the history itself, which excludes the others. */
  session?: boolean;
  /** Whether reasoning goes with its ids; `"keep"` unless told. */
  reasoningIds?: "keep" | "omit";
}

/** What the next request contains, and of everything else why not. */
export interface Plan<T> {
  /** What goes. An item that goes as it was added is the very object that was added. */
  items: { occurrence: number; item: T }[];
  leftOut: { occurrence: number; reason: LeftOutReason; attempt?: number }[];
  /** What the request carries as `conversation`. */
  conversation: string | null;
  /** What the request carries as `previous_response_id`. */
  previousResponseId: string | null;
}

/** Why an item does not go. */
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

/** What stands between a run and its next request. */
export interface Unresolved {
  /** Calls that the server has, for which there is an output neither there nor here. */
  calls: { id: string | null; kind: string; call_id: string }[];
  /** Occurrences of outputs whose calls the server is not known to have. */
  outputs: number[];
  /** Requests that nobody answered. */
  attempts: number[];
}

/** How far an item has come. */
export type Standing =
  | { standing: "pending" }
  | { standing: "sent"; attempt: number }
  | { standing: "accepted" };

/**
 * What one run has sent to the owner of its conversation's state, and what it still has to send.
 *
 * Items are named by the numbers that `add` gave them, requests by the numbers that `send` gave them;
 * both stay when a tracker is restored. What a tracker refuses is an `AntiphonError` with a `code`,
 * and changes nothing.
 */
export class Tracker<T extends Item = Item> {
  readonly #tracker: NativeTracker;
  /** The objects that were added and are not accepted yet. */
  readonly #added = new Map<number, T>();

  /** A tracker of a run that has sent nothing yet. */
  constructor(options: TrackerOptions);
  constructor(options: TrackerOptions | Restored) {
    this.#tracker =
      options instanceof Restored
        ? called(() => native.Tracker.fromSnapshot(options.snapshot))
        : begun(options);
  }

  /** A tracker from what `JSON.stringify(tracker)` gave. */
  static fromJSON<T extends Item = Item>(snapshot: string | object): Tracker<T> {
    if (typeof snapshot !== "string") refuseOtherThanObject(snapshot, "snapshot");
    const text = typeof snapshot === "string" ? snapshot : JSON.stringify(snapshot);
    return new Tracker<T>(new Restored(text) as TrackerOptions);
  }

  /** Adds items: initial input, input that was staged, outputs of tools. The number of each. */
  add(items: readonly T[]): number[] {
    const text = textOf(items, "items");
    const occurrences = called(() => this.#tracker.add(text));
    occurrences.forEach((occurrence, index) => this.#added.set(occurrence, items[index] as T));
    return occurrences;
  }

  /** What the next request contains, and of everything else why not. */
  plan(): Plan<T> {
    const plan = JSON.parse(this.#tracker.plan()) as NativePlan<T>;
    const items = plan.items.map(({ occurrence, is_as_added, item }) => {
      const added = is_as_added ? this.#added.get(occurrence) : undefined;
      return { occurrence, item: added ?? item };
    });
    const { conversation, previous_response_id, left_out } = plan;
    return { items, leftOut: left_out, conversation, previousResponseId: previous_response_id };
  }

  /** Marks what goes, right before it goes. The request's number. */
  send(occurrences: readonly number[]): number {
    if (!Array.isArray(occurrences)) throw refused("occurrences", "an array is needed", occurrences);
    const sent = [...(occurrences as readonly number[])];
    sent.forEach((one, index) => refuseOtherThanNumber(one, `occurrences[${index}]`, "add"));
    return called(() => this.#tracker.send(sent));
  }

  /**
   * Marks what a filter made of the plan, right before it goes: items, and the numbers of those that
   * were planned where the filter says so. The request's number.
   */
  sendFiltered(returned: readonly { item: Item; occurrence?: number }[]): number {
    const text = textOf(returned, "returned");
    return called(() => this.#tracker.sendFiltered(text));
  }

  /** A response came: the server has what the request contained, and the output. */
  accept(attempt: number, response: { id?: string | null; output?: readonly Item[] }): void {
    refuseOtherThanNumber(attempt, "attempt", "send");
    refuseOtherThanObject(response, "response");
    const { id, output = [] } = response;
    const text = valueText({ id: id ?? null, output }, "response");
    called(() => this.#tracker.accept(attempt, text));
    this.#forgetAccepted();
  }

  /** The request failed: what it contained is pending again. What was rewound. */
  rewind(attempt: number): number[] {
    refuseOtherThanNumber(attempt, "attempt", "send");
    return called(() => this.#tracker.rewind(attempt));
  }

  /**
   * Takes `held`, the server's own list, for all that it has. What of the requests in flight is
   * certainly there, and so accepted.
   */
  hydrate(held: readonly Item[]): number[] {
    const text = textOf(held, "held");
    const accepted = called(() => this.#tracker.hydrate(text));
    this.#forgetAccepted();
    return accepted;
  }

  /** What the next request would fail on, or nobody can know. */
  unresolved(): Unresolved {
    return JSON.parse(this.#tracker.unresolved()) as Unresolved;
  }

  /** How far an item has come; nothing where it is not of this tracker. */
  standing(occurrence: number): Standing | undefined {
    refuseOtherThanNumber(occurrence, "occurrence", "add");
    return (JSON.parse(this.#tracker.standing(occurrence)) as Standing | null) ?? undefined;
  }

  /** How many calls of the model were accepted. */
  get turns(): number {
    return this.#tracker.turns;
  }

  /** What the next request carries as `conversation`. */
  get conversation(): string | undefined {
    return this.#tracker.conversation ?? undefined;
  }

  /** What the next request carries as `previous_response_id`. */
  get previousResponseId(): string | undefined {
    return this.#tracker.previousResponseId ?? undefined;
  }

  /** Ends the run: nothing can be added any more. */
  finish(): void {
    this.#tracker.finish();
  }

  /** Whether the run has ended. */
  get isFinished(): boolean {
    return this.#tracker.isFinished;
  }

  /** The tracker as plain JSON, requests in flight included, for `Tracker.fromJSON`. */
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

/** How the native module calls the options. */
const NATIVE_NAMES: Readonly<Record<keyof TrackerOptions, string>> = {
  conversation: "conversation",
  previousResponseId: "previous_response_id",
  autoPreviousResponseId: "auto_previous_response_id",
  session: "session",
  reasoningIds: "reasoning_ids",
};

function begun(options: TrackerOptions): NativeTracker {
  refuseOtherThanTrackerOptions(options);
  const names = Object.entries(NATIVE_NAMES) as [keyof TrackerOptions, string][];
  const named = names.map(([name, nativeName]) => [nativeName, options[name]]);
  try {
    return called(() => new native.Tracker(JSON.stringify(Object.fromEntries(named))));
  } catch (error) {
    throw error instanceof AntiphonError ? namedAsHere(error) : error;
  }
}

function refuseOtherThanTrackerOptions(options: TrackerOptions): void {
  refuseOtherOptions(options, Object.keys(NATIVE_NAMES));
  for (const name of ["conversation", "previousResponseId"] as const) {
    refuseOtherThan(isId(options[name]), name, "an id is needed", options[name]);
  }
  for (const name of ["session", "autoPreviousResponseId"] as const) {
    refuseOtherThan(typeof options[name] === "boolean", name, "true or false is needed", options[name]);
  }
  const isKnown = options.reasoningIds === "keep" || options.reasoningIds === "omit";
  refuseOtherThan(isKnown, "reasoningIds", '"keep" or "omit" is needed', options.reasoningIds);
}

/** What is undefined is not given. */
function refuseOtherThan(isWhatIsNeeded: boolean, name: string, need: string, given: unknown): void {
  if (given !== undefined && !isWhatIsNeeded) throw refused(name, need, given);
}

function isId(given: unknown): boolean {
  return typeof given === "string" && given !== "";
}

/** The error with the options as they are called here. */
function namedAsHere({ code, message }: AntiphonError): AntiphonError {
  const inCamelCase = (name: string): string =>
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return new AntiphonError(code, message.replace(/\b[a-z]+(_[a-z]+)+\b/g, inCamelCase));
}
