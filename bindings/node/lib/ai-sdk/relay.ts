/** Observes a stream. */
export interface Listener<T> {
  /** Receives a part, and returns the part to pass on. */
  part(part: T): T;
  /** The stream ended, failed, or was cancelled. */
  left(): void;
}

/** Passes a stream on to a reader with a listener. Reads only as much as the reader requests. */
export function relayed<T>(stream: ReadableStream<T>, listener: Listener<T>): ReadableStream<T> {
  const reader = stream.getReader();
  return new ReadableStream<T>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(listener.part(value));
          listener.left();
          controller.close();
        } catch (error) {
          listener.left();
          controller.error(error);
        }
      },
      async cancel(reason) {
        listener.left();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
