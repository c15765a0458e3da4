import { Answer, isComplete, isStart } from "./answer.js";
import { assertConversations, assertOptions } from "./arguments.js";
import { DistinctCalls } from "./distinct-calls.js";
import { Ledger } from "./ledger.js";
import { isLocked, sendAndSettle, shouldRetry } from "./refusal.js";
import { relayed } from "./relay.js";
import { isNotEmpty, warningsOf, type Report } from "./report.js";
import type { CallOptions, GenerateResult, StreamPart, StreamResult } from "./shapes.js";
import { Turn, type Rules } from "./turn.js";

/** Options of the middleware. */
export interface StatefulOptions extends Rules {
  /**
   * Called with the changes of a prompt before it is sent, if there are any. Repairs are also in
   * the `warnings` of the call.
   */
  readonly onReport?: ((report: Report) => void) | undefined;
}

/** A middleware for `wrapLanguageModel` of the AI SDK, versions 6 and 7. */
export interface StatefulMiddleware {
  readonly specificationVersion: "v3";
  transformParams<P extends CallOptions>(options: { params: P }): Promise<P>;
  wrapGenerate<R extends GenerateResult, P extends CallOptions>(options: {
    doGenerate: () => PromiseLike<R>;
    params: P;
    model: { doGenerate(params: P): PromiseLike<R> };
  }): Promise<R>;
  wrapStream<R extends StreamResult, P extends CallOptions>(options: {
    doStream: () => PromiseLike<R>;
    params: P;
    model: { doStream(params: P): PromiseLike<R> };
  }): Promise<R>;
}

/** An alias of `StatefulOptions`. */
export type WholeOptions = StatefulOptions;

/** An alias of `StatefulMiddleware`. */
export type WholeMiddleware = StatefulMiddleware;

/**
 * Creates a middleware that repairs prompts which a provider would reject. With a conversation or a
 * response that the provider stores, it sends only the new items. A call that an answer repeats is
 * left out, so that its tool runs once.
 *
 * Unchanged messages and parts stay the same objects, and the call's warnings list the repairs.
 * With `conversations`, the middleware lists the items of a conversation that it does not know,
 * also after a call that failed or was interrupted. Without it, and for `previousResponseId`, it
 * derives them from the prompt: an item with an id that a server assigned is held, and so are all
 * items before it.
 *
 * A middleware remembers the most recently used conversations of all models that it wraps. These
 * must belong to one account.
 */
export function stateful(options: StatefulOptions = {}): StatefulMiddleware {
  assertOptions(options);
  assertConversations(options.conversations);
  const calls = new Calls(options);
  return {
    specificationVersion: "v3",

    transformParams: ({ params }) => calls.open(params, false),

    async wrapGenerate({ doGenerate, params, model }) {
      const { turn, result } = await calls.answer(params, doGenerate, (p) => model.doGenerate(p));
      const content = result.content.filter(new DistinctCalls().isNew);
      if (isComplete(result.finishReason)) {
        turn.ended({ content, responseId: result.response?.id });
      } else {
        turn.left();
      }
      return { ...result, content, warnings: [...result.warnings, ...warningsOf(turn.report)] };
    },

    async wrapStream({ doStream, params, model }) {
      const { turn, result } = await calls.answer(params, doStream, (p) => model.doStream(p));
      return { ...result, stream: observed(result.stream, turn) };
    },
  };
}

/** An alias of `stateful`. */
export const whole = stateful;

/** An open call of a model: its parameters and its turn. */
interface Open {
  readonly given: CallOptions;
  readonly turn: Turn;
}

/** The calls of a model, from the prompt to the start of the answer. */
class Calls {
  readonly #ledger = new Ledger();
  readonly #open = new WeakMap<CallOptions, Open>();

  constructor(private readonly options: StatefulOptions) {}

  /** Opens a turn, and returns the parameters to send. `refetch` ignores the known state. */
  async open<P extends CallOptions>(given: P, refetch: boolean): Promise<P> {
    const turn = await Turn.open(given, this.#ledger, this.options, refetch);
    if (isNotEmpty(turn.report)) this.options.onReport?.(turn.report);
    const sent = { ...given, prompt: turn.prompt };
    this.#open.set(sent, { given, turn });
    return sent;
  }

  /**
   * Sends a call, and retries a few times. If the server rejects it, perhaps because the remembered
   * state is wrong, the items are listed again, and the call is sent if it differs. If another turn
   * locks the conversation, the call is sent again after a pause.
   */
  async answer<R, P extends CallOptions>(
    params: P,
    first: () => PromiseLike<R>,
    again: (params: P) => PromiseLike<R>,
  ): Promise<{ turn: Turn; result: R }> {
    const { given } = this.#opened(params);
    let sent = params;
    for (let attempt = 0; ; attempt += 1) {
      const { turn } = this.#opened(sent);
      try {
        return { turn, result: await sendAndSettle(turn, () => (attempt ? again(sent) : first())) };
      } catch (error) {
        if (!(await shouldRetry(turn, error, attempt, params.abortSignal))) throw error;
        sent = await this.open(given as P, true);
        if (!isLocked(error) && !this.#opened(sent).turn.differsFrom(turn)) throw error;
      }
    }
  }

  #opened(params: CallOptions): Open {
    const open = this.#open.get(params);
    if (open === undefined) throw new Error("the call did not go through transformParams");
    return open;
  }
}

/**
 * Observes a stream for its turn, leaves out repeated calls, and adds warnings with the repairs.
 */
function observed(stream: ReadableStream<StreamPart>, turn: Turn): ReadableStream<StreamPart> {
  const answer = new Answer();
  const calls = new DistinctCalls();
  const warnings = warningsOf(turn.report);
  return relayed(stream, {
    part(part) {
      if (!calls.isNew(part)) return undefined;
      answer.push(part);
      if (answer.isComplete) turn.ended(answer.ending());
      return isStart(part) ? { ...part, warnings: [...part.warnings, ...warnings] } : part;
    },
    left: () => turn.left(answer.ids()),
  });
}
