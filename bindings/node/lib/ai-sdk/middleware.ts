import { Answer, isStart, isWhole } from "./answer.js";
import { Ledger } from "./ledger.js";
import { saysSomething, warningsOf, type Report } from "./report.js";
import type {
  CallOptions,
  GenerateResult,
  StreamPart,
  StreamResult,
} from "./shapes.js";
import { relayed } from "./relay.js";
import { Turn, type Rules } from "./turn.js";

/** What a middleware is made with. */
export interface WholeOptions extends Rules {
  /**
   * Is told what was done to a prompt, before it is sent. What was mended also stands in the `warnings`
   * of the call.
   */
  readonly onMend?: ((report: Report) => void) | undefined;
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
 * Keeps the conversations of a model whole: a prompt that a provider would refuse is mended, and beside
 * a conversation or a response that the provider holds only what is new is sent.
 *
 * Guarantees: messages and parts that nothing was done to stay the same objects; what was mended is told
 * in the call's warnings. With `conversations` what is not known of a conversation is asked for, also
 * after a call that failed or was left. Without, and for `previousResponseId`, what is not known follows
 * from the prompt: items under ids that a server gave are taken for held, and what stands before them.
 *
 * One middleware remembers for all models that it wraps, within bounds.
 */
export function whole(options: WholeOptions = {}): WholeMiddleware {
  const ledger = new Ledger();
  const turns = new WeakMap<CallOptions, Turn>();

  async function opened<P extends CallOptions>(params: P, anew = false): Promise<P> {
    const turn = await Turn.open(params, ledger, options, anew);
    if (saysSomething(turn.report)) options.onMend?.(turn.report);
    const sent = { ...params, prompt: turn.prompt };
    turns.set(sent, turn);
    return sent;
  }

  /** The answer to a turn. A refusal of what was believed is answered by asking, and sending once more. */
  async function answered<R, P extends CallOptions>(
    params: P,
    first: () => PromiseLike<R>,
    again: (params: P) => PromiseLike<R>,
  ): Promise<{ turn: Turn | undefined; result: R }> {
    const turn = turns.get(params);
    try {
      return { turn, result: await first() };
    } catch (error) {
      settle(turn, error);
      if (!turn?.mayBeMistaken || !isRefusal(error, MISTAKEN)) throw error;
      const second = await opened(unsent(params), true);
      try {
        return { turn: turns.get(second), result: await again(second) };
      } catch (refused) {
        settle(turns.get(second), refused);
        throw refused;
      }
    }
  }

  const given = new WeakMap<CallOptions, CallOptions>();
  const unsent = <P extends CallOptions>(params: P) => (given.get(params) ?? params) as P;

  return {
    specificationVersion: "v3",

    async transformParams({ params }) {
      const sent = await opened(params);
      given.set(sent, params);
      return sent;
    },

    async wrapGenerate({ doGenerate, params, model }) {
      const { turn, result } = await answered(params, doGenerate, (p) => model.doGenerate(p));
      if (!turn) return result;
      if (isWhole(result.finishReason)) {
        turn.ended({ content: result.content, responseId: result.response?.id });
      } else {
        turn.left();
      }
      return { ...result, warnings: [...result.warnings, ...warningsOf(turn.report)] };
    },

    async wrapStream({ doStream, params, model }) {
      const { turn, result } = await answered(params, doStream, (p) => model.doStream(p));
      if (!turn) return result;
      return { ...result, stream: heard(result.stream, turn) };
    },
  };
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

/** A refusal leaves what is held as it was; of any other failure nobody knows what it left. */
function settle(turn: Turn | undefined, error: unknown): void {
  if (isRefusal(error)) turn?.refused();
  else turn?.left();
}

/** What a provider answers to a request that it found wrong, and that left nothing. */
const MISTAKEN = [400, 404, 409, 422];

function isRefusal(error: unknown, statuses = [...MISTAKEN, 401, 403, 413, 429]): boolean {
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  return typeof statusCode === "number" && statuses.includes(statusCode);
}
