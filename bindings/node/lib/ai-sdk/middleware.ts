import { Answer, isStart, isWhole } from "./answer.js";
import { assertConversations, assertOptions } from "./arguments.js";
import { Ledger } from "./ledger.js";
import { isLocked, isWorthAsking, settling } from "./refusal.js";
import { relayed } from "./relay.js";
import { saysSomething, warningsOf, type Report } from "./report.js";
import type { CallOptions, GenerateResult, StreamPart, StreamResult } from "./shapes.js";
import { Turn, type Rules } from "./turn.js";

/** What a middleware is made with. */
export interface WholeOptions extends Rules {
  /**
   * Is told what was done to a prompt, before it is sent. What was mended also stands in the
   * `warnings` of the call.
   */
  readonly onReport?: ((report: Report) => void) | undefined;
}

/** A middleware for `wrapLanguageModel`, of version 6 of the AI SDK and of version 7. */
export interface WholeMiddleware {
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

/**
 * Keeps the conversations of a model whole: a prompt that a provider would refuse is mended, and
 * beside a conversation or a response that the provider holds only what is new is sent.
 *
 * Guarantees: messages and parts that nothing was done to stay the same objects; what was mended is
 * told in the call's warnings. With `conversations` what is not known of a conversation is asked
 * for, also after a call that failed or was left. Without, and for `previousResponseId`, what is
 * not known follows from the prompt: items under ids that a server gave are taken for held, and
 * what stands before them.
 *
 * One middleware remembers for all models that it wraps, within bounds. They are to be of one
 * account.
 */
export function whole(options: WholeOptions = {}): WholeMiddleware {
  assertOptions(options);
  assertConversations(options.conversations);
  const calls = new Calls(options);
  return {
    specificationVersion: "v3",

    transformParams: ({ params }) => calls.open(params, false),

    async wrapGenerate({ doGenerate, params, model }) {
      const { turn, result } = await calls.answer(params, doGenerate, (p) => model.doGenerate(p));
      if (isWhole(result.finishReason)) {
        turn.ended({ content: result.content, responseId: result.response?.id });
      } else {
        turn.left();
      }
      return { ...result, warnings: [...result.warnings, ...warningsOf(turn.report)] };
    },

    async wrapStream({ doStream, params, model }) {
      const { turn, result } = await calls.answer(params, doStream, (p) => model.doStream(p));
      return { ...result, stream: heard(result.stream, turn) };
    },
  };
}

/** A call of a model that was opened: what it was given, and its turn. */
interface Open {
  readonly given: CallOptions;
  readonly turn: Turn;
}

/** The calls of a model, from the prompt to the answer's beginning. */
class Calls {
  readonly #ledger = new Ledger();
  readonly #open = new WeakMap<CallOptions, Open>();

  constructor(private readonly options: WholeOptions) {}

  /** What is to be sent of a call. */
  async open<P extends CallOptions>(given: P, anew: boolean): Promise<P> {
    const turn = await Turn.open(given, this.#ledger, this.options, anew);
    if (saysSomething(turn.report)) this.options.onReport?.(turn.report);
    const sent = { ...given, prompt: turn.prompt };
    this.#open.set(sent, { given, turn });
    return sent;
  }

  /**
   * The answer to a call. Where it is refused and the refusal may be due to what was remembered,
   * the server is asked what it holds, and what then differs is sent; so it is where another turn
   * has the conversation. All that a few times at most.
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
        return { turn, result: await settling(turn, () => (attempt ? again(sent) : first())) };
      } catch (error) {
        if (!(await isWorthAsking(turn, error, attempt, params.abortSignal))) throw error;
        sent = await this.open(given as P, true);
        if (!isLocked(error) && !this.#opened(sent).turn.differsFrom(turn)) throw error;
      }
    }
  }

  #opened(params: CallOptions): Open {
    const open = this.#open.get(params);
    if (open === undefined) throw new Error("the call did not pass through transformParams");
    return open;
  }
}

/** A stream that tells its turn what comes, and the reader what was mended. */
function heard(stream: ReadableStream<StreamPart>, turn: Turn): ReadableStream<StreamPart> {
  const answer = new Answer();
  const told = warningsOf(turn.report);
  return relayed(stream, {
    part(part) {
      answer.hear(part);
      if (answer.isWhole) turn.ended(answer.ending());
      return isStart(part) ? { ...part, warnings: [...part.warnings, ...told] } : part;
    },
    left: () => turn.left(answer.ids()),
  });
}
