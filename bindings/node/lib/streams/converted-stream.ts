import { AntiphonError } from "../native.js";
import type { NativeConversion } from "../native.js";
import type { Parts } from "./source.js";
import { Told } from "./told.js";

/**
 * A stream in another dialect, to be read once: as events, as the bytes of an event stream, or for the
 * whole answer alone. Nothing is read of the source before that.
 *
 * Whatever the source does, what is told is one well-formed stream with one terminal event. Who stops
 * reading stops the source; but the result of `streamText` keeps a copy of its stream, so that only its
 * own `abortSignal` stops its model.
 */
export class ConvertedStream<E, R> implements AsyncIterable<E> {
  readonly #conversion: NativeConversion;
  readonly #told: Told;
  #isRead = false;
  #settle: { resolve: (response: R) => void; reject: (error: Error) => void } | undefined;
  readonly #final: Promise<R>;

  /** @internal */
  constructor(conversion: NativeConversion, parts: Parts, signal: AbortSignal | undefined) {
    this.#conversion = conversion;
    this.#told = new Told(parts, conversion, signal);
    this.#final = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.#final.catch(() => {});
  }

  /** The events. */
  [Symbol.asyncIterator](): AsyncIterator<E, void> {
    this.#readOnce();
    return {
      next: async () => {
        const { done, value } = await this.#next();
        return done ? { done, value: undefined } : { done: false, value: JSON.parse(value) as E };
      },
      return: async () => {
        await this.#leave(undefined);
        return { done: true, value: undefined };
      },
    };
  }

  /** The bytes of an event stream, with whatever ends one of the dialect. */
  toReadableStream(): ReadableStream<Uint8Array> {
    this.#readOnce();
    this.#conversion.writeEventStream();
    const encoder = new TextEncoder();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await this.#next();
          if (done) controller.close();
          else controller.enqueue(encoder.encode(value));
        },
        cancel: (reason) => this.#leave(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** An answer to a request for an event stream. */
  toResponse(init: ResponseInit = {}): Response {
    const headers = new Headers(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "text/event-stream; charset=utf-8");
    if (!headers.has("cache-control")) headers.set("cache-control", "no-cache");
    return new Response(this.toReadableStream(), { ...init, headers });
  }

  /**
   * The whole answer, once the stream is over; where nobody reads it, it is read for this. Fails with
   * an `AntiphonError` that has the answer's `code`, where the answer failed or is not read to its end.
   */
  async finalResponse(): Promise<R> {
    if (!this.#isRead) for await (const _ of this);
    return this.#final;
  }

  /** What was put right in the answer, and what of it was left out, a sentence each; at its end. */
  get notes(): readonly string[] {
    return this.#told.converted?.notes ?? [];
  }

  async #next(): Promise<IteratorResult<string, void>> {
    const told = await this.#told.next();
    if (told.done) this.#end();
    return told;
  }

  async #leave(reason: unknown): Promise<void> {
    await this.#told.return(reason);
    this.#end();
  }

  #end(): void {
    const converted = this.#told.converted;
    if (!converted) return this.#fail("left", "The stream was not read to its end.");
    const answer = JSON.parse(converted.folded) as R & Failed;
    if (answer.error) {
      const { code, type, message } = answer.error;
      return this.#fail(code ?? type ?? "server_error", message);
    }
    this.#settle?.resolve(answer);
  }

  #fail(code: string, message: string): void {
    this.#settle?.reject(new AntiphonError(code, message));
  }

  #readOnce(): void {
    if (this.#isRead) throw new TypeError("The stream is being read already, or was.");
    this.#isRead = true;
  }
}

/** How both dialects tell of an answer that failed. */
interface Failed {
  error?: { code?: string; type?: string; message: string } | null;
}
