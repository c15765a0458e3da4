import { loadAddon } from "./addon.cjs";

/** The compiled module: values in, values out. Nothing of it is public. */
export interface Native {
  version(): string;
  readonly Companion: new () => Companion;
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

/** What was left out of a request and mended in it. */
export interface Report {
  resent: number;
  mends: { fault: string; action: string }[];
}

export const native = loadAddon() as Native;
