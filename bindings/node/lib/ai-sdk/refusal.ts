import { setTimeout } from "node:timers/promises";

import type { Turn } from "./turn.js";

/**
 * Sends a turn. A refusal leaves what is held as it was; of any other failure nobody knows what it
 * left.
 */
export async function settling<R>(turn: Turn, send: () => PromiseLike<R>): Promise<R> {
  try {
    return await send();
  } catch (error) {
    if (isRefusal(error, REFUSALS)) turn.refused();
    else turn.left();
    throw error;
  }
}

/**
 * Whether it is worth while to ask what the server holds after a turn failed. While another turn
 * has the conversation, as one that was just left may have, this waits before it says so.
 */
export async function isWorthAsking(
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

/** What a provider answers to a request that does not fit what it holds. */
const MISTAKEN = [400, 404, 409, 422];

/** What it answers before it keeps anything. */
const REFUSALS = [...MISTAKEN, 401, 403, 413, 429];

/** How long a conversation is waited for, in milliseconds. */
const WAITS = [100, 500, 1_000, 2_000];

function isRefusal(error: unknown, statuses: readonly number[]): boolean {
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  return typeof statusCode === "number" && statuses.includes(statusCode);
}

/** Whether another turn has the conversation. */
export function isLocked(error: unknown): boolean {
  const { responseBody } = (error ?? {}) as { responseBody?: unknown };
  return typeof responseBody === "string" && responseBody.includes('"conversation_locked"');
}
