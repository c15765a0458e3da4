import type { Converted, NativeConversion } from "../native.js";
import type { InputWriter } from "./input-writer.js";
import type { Parts } from "./source.js";

/** The result of waiting for the next part. */
type Outcome =
  | { kind: "part"; part: unknown }
  | { kind: "over" }
  | { kind: "broken"; error: unknown }
  | { kind: "aborted"; reason: unknown }
  | { kind: "left" };

/**
 * Converts a stream of parts to the texts of events.
 *
 * ```text
 *   Open ── parts … ──┬── the source ends or throws ──> Over   all events are returned
 *                     ├── the signal aborts ──────────> Over   and the source is cancelled
 *                     └── the reader stops ───────────> Left   and the source is cancelled
 * ```
 *
 * Reads one part at a time from the source, and only if no event is waiting.
 */
export class ConvertedEvents implements AsyncIterator<string, void> {
  #state: "open" | "over" | "left" = "open";
  #waiting: string[] = [];
  /** Ends the wait for the next part. */
  #interrupt: ((outcome: Outcome) => void) | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #converted: Converted | undefined;

  constructor(
    private readonly parts: Parts,
    private readonly writer: InputWriter,
    private readonly conversion: NativeConversion,
    private readonly signal: AbortSignal | undefined,
  ) {
    if (signal?.aborted) parts.leave(signal.reason);
    signal?.addEventListener("abort", this.#aborted, { once: true });
  }

  /** The end of the conversion, after the last event. */
  get converted(): Converted | undefined {
    return this.#converted;
  }

  /** The next event. Concurrent calls are answered in order. */
  next(): Promise<IteratorResult<string, void>> {
    const next = this.#turn.then(() => this.#next());
    this.#turn = next.catch(() => {});
    return next;
  }

  /** Stops reading, and ends a pending wait. */
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
      this.#handle(await this.#waitForPart());
    }
  }

  #waitForPart(): Promise<Outcome> {
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

  #handle(outcome: Outcome): void {
    switch (outcome.kind) {
      case "part":
        return this.#push(this.writer.part(outcome.part));
      case "over":
        return this.#finish();
      case "broken":
        this.#push(this.writer.error(outcome.error));
        return this.#finish();
      case "aborted":
        this.#push(this.writer.abort(outcome.reason));
        return this.#finish();
      case "left":
        return undefined;
    }
  }

  #push(text: string): void {
    if (this.#state === "open") this.#waiting.push(...this.conversion.push(text));
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
