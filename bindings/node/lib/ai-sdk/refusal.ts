import { setTimeout } from "node:timers/promises";

import type { Turn } from "./turn.js";

/**
 * Sends a turn, and records a failure. After a rejection the server's state is unchanged; after any
 * other failure it is unknown.
 */
export async function sendAndSettle<R>(turn: Turn, send: () => PromiseLike<R>): Promise<R> {
  try {
    return await send();
  } catch (error) {
    if (isRefusal(error, REFUSALS)) turn.refused();
    else turn.left();
    throw error;
  }
}

/**
 * Whether to retry a failed turn with a new list of the server's items. Waits first if another turn
 * locks the conversation, for example one that was just interrupted.
 */
export async function shouldRetry(
  turn: Turn,
  error: unknown,
  attempt: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const wait = WAITS[attempt];
  if (wait === undefined) return false;
  if (!isLocked(error)) return turn.canAsk && isRefusal(error, MISTAKEN);
  await setTimeout(wait, undefined, signal && { signal });
  return true;
}

/** The statuses of requests that contradict the server's state. */
const MISTAKEN = [400, 404, 409, 422];

/** The statuses of requests that the server rejects without storing anything. */
const REFUSALS = [...MISTAKEN, 401, 403, 413, 429];

/** The pauses before retries in milliseconds. */
const WAITS = [100, 500, 1_000, 2_000];

function isRefusal(error: unknown, statuses: readonly number[]): boolean {
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  return typeof statusCode === "number" && statuses.includes(statusCode);
}

/** Whether another turn locks the conversation. */
export function isLocked(error: unknown): boolean {
  const { responseBody } = (error ?? {}) as { responseBody?: unknown };
  return typeof responseBody === "string" && responseBody.includes('"conversation_locked"');
}
