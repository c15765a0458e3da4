/** Who listens to a stream. */
export interface Listener<T> {
  /** A part came; what is returned goes on in its place. */
  part(part: T): T;
  /** The stream is over, failed, or is read no more. */
  left(): void;
}

/** The stream as it is, with a listener. It is read as its reader reads, and cancelled with it. */
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
