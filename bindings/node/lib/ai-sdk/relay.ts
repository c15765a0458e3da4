/** Observes a stream. */
export interface Observer<T> {
  /** Receives a part, and returns the part to pass on, if any. */
  part(part: T): T | undefined;
  /** The stream ended, failed, or was cancelled. */
  left(): void;
}

/** Passes a stream on to a reader with an observer. Reads only as much as the reader requests. */
export function relayed<T>(stream: ReadableStream<T>, observer: Observer<T>): ReadableStream<T> {
  const reader = stream.getReader();
  return new ReadableStream<T>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await reader.read();
            if (done) break;
            const part = observer.part(value);
            if (part !== undefined) return controller.enqueue(part);
          }
          observer.left();
          controller.close();
        } catch (error) {
          observer.left();
          controller.error(error);
        }
      },
      async cancel(reason) {
        observer.left();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
