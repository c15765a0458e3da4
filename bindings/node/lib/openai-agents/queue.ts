import { AgentsError } from "@openai/agents";

/**
 * Another run of this process holds the conversation: for longer than the runner's `queueTimeout`,
 * or it is the run whose tool started this run.
 */
export class ConversationBusy extends AgentsError {
  readonly conversation: string;

  constructor(conversation: string, reason: string) {
    super(`Conversation '${conversation}' ${reason}.`);
    this.name = "ConversationBusy";
    this.conversation = conversation;
  }
}

/** A run's place in the queue of a conversation. */
export interface Ticket {
  readonly conversation: string;
  /** Fulfilled when the run may start. */
  readonly admitted: Promise<void>;
}

/** Admits one run at a time to a conversation, in order of arrival. */
export class RunQueue {
  readonly #queues = new Map<string, { ticket: Ticket; admit: () => void }[]>();

  /**
   * Waits for the conversation. Throws `ConversationBusy` after `timeout` milliseconds. If the
   * signal is aborted, returns undefined.
   */
  async enter(
    conversation: string,
    timeout: number,
    signal?: AbortSignal,
  ): Promise<Ticket | undefined> {
    const { ticket, isFirst } = this.#enqueue(conversation);
    if (isFirst) return ticket;
    const limit = AbortSignal.timeout(timeout);
    const until = signal ? AbortSignal.any([signal, limit]) : limit;
    if (await isAdmittedBefore(until, ticket)) return ticket;
    this.leave(ticket);
    if (signal?.aborted) return undefined;
    throw new ConversationBusy(conversation, `was held by other runs for ${timeout} ms`);
  }

  /** Removes a ticket, and admits the next run. */
  leave(ticket: Ticket): void {
    const queue = this.#queues.get(ticket.conversation) ?? [];
    const remaining = queue.filter((entry) => entry.ticket !== ticket);
    if (remaining.length === 0) this.#queues.delete(ticket.conversation);
    else this.#queues.set(ticket.conversation, remaining);
    remaining[0]?.admit();
  }

  #enqueue(conversation: string): { ticket: Ticket; isFirst: boolean } {
    let admit = (): void => {};
    const admitted = new Promise<void>((resolve) => (admit = resolve));
    const ticket = { conversation, admitted };
    const queue = this.#queues.get(conversation) ?? [];
    this.#queues.set(conversation, [...queue, { ticket, admit }]);
    return { ticket, isFirst: queue.length === 0 };
  }
}

function isAdmittedBefore(until: AbortSignal, { admitted }: Ticket): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = (): void => resolve(false);
    until.addEventListener("abort", stop, { once: true });
    if (until.aborted) stop();
    void admitted.then(() => {
      until.removeEventListener("abort", stop);
      resolve(true);
    });
  });
}
