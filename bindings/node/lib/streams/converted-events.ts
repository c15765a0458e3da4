import type { Converted, NativeConversion } from "../native.js";
import { lineOf } from "./part.js";
import type { Parts } from "./source.js";

/** What comes of waiting for the next part. */
type Heard =
  | { kind: "part"; part: unknown }
  | { kind: "over" }
  | { kind: "broken"; error: unknown }
  | { kind: "aborted"; reason: unknown }
  | { kind: "left" };

/**
 * What a client is told of a stream of parts, text by text.
 *
 * ```text
 *   Open ── parts … ──┬── the source is over, or breaks ──> Over   told to the last
 *                     ├── the signal aborts ──────────────> Over   and the source is left
 *                     └── nobody reads any more ──────────> Left   and the source is left
 * ```
 *
 * No more is read of the source than is asked for: a part at a time, and only while nothing waits to
 * be told.
 */
export class Told implements AsyncIterator<string, void> {
  #state: "open" | "over" | "left" = "open";
  #waiting: string[] = [];
  /** Ends the wait for the part that is being read. */
  #interrupt: ((heard: Heard) => void) | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #converted: Converted | undefined;

  constructor(
    private readonly parts: Parts,
    private readonly conversion: NativeConversion,
    private readonly signal: AbortSignal | undefined,
  ) {
    if (signal?.aborted) parts.leave(signal.reason);
    signal?.addEventListener("abort", this.#aborted, { once: true });
  }

  /** The end, once it was told. */
  get converted(): Converted | undefined {
    return this.#converted;
  }

  /** What is told next. Calls before the last has an answer wait for their turn. */
  next(): Promise<IteratorResult<string, void>> {
    const next = this.#turn.then(() => this.#next());
    this.#turn = next.catch(() => {});
    return next;
  }

  /** Nobody reads any more, not even what is being waited for. */
  async return(reason?: unknown): Promise<IteratorResult<string, void>> {
    if (this.#state === "open") {
      this.#state = "left";
      this.#leave(reason);
      this.#interrupt?.({ kind: "left" });
    }
    this.#waiting = [];
    return { done: true, value: undefined };
  }

  async #next(): Promise<IteratorResult<string, void>> {
    for (;;) {
      const value = this.#waiting.shift();
      if (value !== undefined) return { done: false, value };
      if (this.#state !== "open") return { done: true, value: undefined };
      this.#take(await this.#heard());
    }
  }

  #heard(): Promise<Heard> {
    if (this.signal?.aborted) {
      return Promise.resolve({ kind: "aborted", reason: this.signal.reason });
    }
    return new Promise((resolve) => {
      this.#interrupt = resolve;
      this.parts.next().then(
        ({ done, value }) => resolve(done ? { kind: "over" } : { kind: "part", part: value }),
        (error: unknown) => resolve({ kind: "broken", error }),
      );
    });
  }

  #take(heard: Heard): void {
    switch (heard.kind) {
      case "part":
        return this.#push(heard.part);
      case "over":
        return this.#finish();
      case "broken":
        this.#push(partOfError(heard.error));
        return this.#finish();
      case "aborted":
        this.#push({ type: "abort", reason: sentenceOf(heard.reason) });
        return this.#finish();
      case "left":
        return undefined;
    }
  }

  #push(part: unknown): void {
    if (this.#state === "open") this.#waiting.push(...this.conversion.push(lineOf(part)));
  }

  #finish(): void {
    if (this.#state !== "open") return;
    this.#state = "over";
    this.signal?.removeEventListener("abort", this.#aborted);
    this.#converted = this.conversion.finish(unixNow()) ?? undefined;
    this.#waiting.push(...(this.#converted?.events ?? []));
  }

  #leave(reason: unknown): void {
    this.signal?.removeEventListener("abort", this.#aborted);
    this.parts.leave(reason);
  }

  readonly #aborted = (): void => {
    this.parts.leave(this.signal?.reason);
    this.#interrupt?.({ kind: "aborted", reason: this.signal?.reason });
  };
}

/** The time in Unix seconds. */
export function unixNow(): number {
  return Math.floor(Date.now() / 1000);
}

/** A source that was aborted has not failed. */
function partOfError(error: unknown): object {
  const isAbort = error instanceof Error && error.name === "AbortError";
  return isAbort ? { type: "abort", reason: error.message } : { type: "error", error };
}

function sentenceOf(reason: unknown): string {
  if (reason instanceof Error) return reason.message;
  return typeof reason === "string" ? reason : "";
}
