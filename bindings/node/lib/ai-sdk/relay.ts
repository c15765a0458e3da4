/** Observes a stream. */
export interface Observer<T> {
  /** Receives a part, and returns the part to pass on. */
  part(part: T): T;
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
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(observer.part(value));
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
