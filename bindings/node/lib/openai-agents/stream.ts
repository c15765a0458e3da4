import { StreamedRunResult } from "@openai/agents";
import type { RunResult } from "@openai/agents";

import type { Run } from "./run.js";

/** The methods by which the SDK ends a stream. */
interface StreamEnds {
  _done(): void;
  _raiseError(error: unknown, ...more: unknown[]): void;
}

/**
 * Finishes the run before its result is complete. A streamed result ends after that; the stream of
 * a caller that stopped reading has ended already.
 */
export async function finishBeforeEnd(
  result: RunResult<any, any> | StreamedRunResult<any, any>,
  run: Run,
): Promise<void> {
  if (!(result instanceof StreamedRunResult)) return run.finish(result);
  const ends = result as unknown as StreamEnds;
  const [done, raise] = [ends._done.bind(result), ends._raiseError.bind(result)];
  ends._done = () => void run.finish(result).then(done);
  ends._raiseError = (error, ...more) =>
    void run.finish(result, error).then(() => raise(error, ...more));
  if (await hasEnded(result)) await run.finish(result, result.error ?? undefined);
}

/** Whether the stream has ended before its caller received it. */
function hasEnded({ completed }: StreamedRunResult<any, any>): Promise<boolean> {
  const ended = (): boolean => true;
  return Promise.race([completed.then(ended, ended), Promise.resolve().then(() => false)]);
}
