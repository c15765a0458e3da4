import { AsyncLocalStorage } from "node:async_hooks";

import { AgentsError, RunResult, RunState, StreamedRunResult, ToolCallError } from "@openai/agents";
import type { Agent, AgentInputItem, ModelResponse, Session } from "@openai/agents";

import { accountOf, clientOf, isStateful, post } from "./client.js";
import type { Client, ModelSettings } from "./client.js";
import { matchingOutputs, outputsOf, textOutput, UnsentOutputs } from "./outputs.js";
import type { FunctionCall, Output } from "./outputs.js";
import { ConversationBusy, RunQueue } from "./queue.js";
import type { Ticket } from "./queue.js";

/** The input of a run. */
export type Input<TContext = any, TAgent extends Agent<any, any> = any> =
  | string
  | AgentInputItem[]
  | RunState<TContext, TAgent>;

/** The options of a run that matter here. */
export interface Options {
  readonly conversationId?: string | undefined;
  readonly previousResponseId?: string | undefined;
  readonly session?: Session | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Result = RunResult<any, any> | StreamedRunResult<any, any>;

const QUEUE = new RunQueue();
const UNSENT = new UnsentOutputs();
const CURRENT = new AsyncLocalStorage<Run>();

/** The run in whose context the caller is. */
export function currentRun(): Run | undefined {
  return CURRENT.getStore();
}

/**
 * A run whose conversation the server may store: from its place in the queue of the conversation to
 * the delivery of its unsent outputs.
 */
export class Run {
  readonly #settings: ModelSettings;
  readonly #options: Options;
  readonly #conversation: string | undefined;
  readonly #parent = currentRun();
  readonly #resumed: RunState<any, any> | undefined;
  readonly #recorded = new Map<string, { call: FunctionCall; text: string }>();
  #agent: Agent<any, any>;
  #ticket: Ticket | undefined;
  #finished: Promise<void> | undefined;

  constructor(agent: Agent<any, any>, input: Input, settings: ModelSettings, options: Options) {
    this.#agent = agent;
    this.#settings = settings;
    this.#options = options;
    this.#resumed = input instanceof RunState ? input : undefined;
    this.#conversation = options.conversationId ?? this.#resumed?._conversationId;
  }

  /** Waits until no other run holds the conversation. */
  async enter(timeout: number): Promise<void> {
    const conversation = this.#conversation;
    if (conversation === undefined) return;
    if (this.#parent?.holds(conversation)) {
      throw new ConversationBusy(conversation, "is held by the run whose tool started this run");
    }
    this.#ticket = await QUEUE.enter(conversation, timeout, this.#options.signal);
  }

  /** Whether this run, or one whose tool started it, is admitted to the conversation. */
  holds(conversation: string): boolean {
    const holdsIt = this.#ticket?.conversation === conversation;
    return holdsIt || (this.#parent?.holds(conversation) ?? false);
  }

  /** The input, preceded by the outputs that an earlier run stored for the previous response. */
  async inputFor<I extends Input>(input: I): Promise<I | AgentInputItem[] | string> {
    const { previousResponseId } = this.#options;
    if (previousResponseId === undefined || input instanceof RunState) return input;
    const client = await this.#client();
    if (client === undefined) return input;
    return UNSENT.prependTo(accountOf(client), previousResponseId, input as string);
  }

  /** Calls a function in whose context this run is the current one. */
  within<T>(call: () => T): T {
    return CURRENT.run(this, call);
  }

  /** Records the result of a function call. For a failed call, `text` is that of its error. */
  record(agent: Agent<any, any>, call: FunctionCall, text: string): void {
    this.#agent = agent;
    this.#recorded.set(call.callId, { call, text });
  }

  /**
   * Delivers the unsent outputs of the run, which ended with a result, an error, or both. Warns
   * about outputs that cannot be delivered, and never throws. Later calls wait for the first one.
   */
  finish(result: Result | undefined, error?: unknown): Promise<void> {
    this.#finished ??= this.#deliver(result ?? this.#resultOf(error), error)
      .catch(emitWarning)
      .finally(() => this.#leave());
    return this.#finished;
  }

  #leave(): void {
    if (this.#ticket) QUEUE.leave(this.#ticket);
    this.#ticket = undefined;
  }

  async #deliver(result: Result | undefined, error: unknown): Promise<void> {
    this.#agent = result?.lastAgent ?? this.#agent;
    const response = result?.rawResponses.at(-1);
    const unsent = this.#unsent(result, response, error);
    const client = unsent.length > 0 ? await this.#client() : undefined;
    if (client === undefined) return;
    if (this.#conversation !== undefined) {
      // Resuming sends them again, and a client without `statefulFetch` would not leave them out.
      if (mayBeResumed(result, error) && !isStateful(client)) return;
      await post(client, this.#conversation, unsent);
    } else if (response?.responseId && this.#options.session === undefined) {
      UNSENT.store(accountOf(client), response.responseId, unsent);
    }
  }

  /** The outputs for calls of the last response; if that is unknown, all outputs of the run. */
  #unsent(
    result: Result | undefined,
    response: ModelResponse | undefined,
    error: unknown,
  ): Output[] {
    const recorded = [...this.#recorded.values()]
      .filter(({ text }) => !isFailure(text, error))
      .map(({ call, text }) => textOutput(call, text));
    const outputs = [...recorded, ...outputsOf(result?.newItems ?? [])];
    return response ? matchingOutputs(response, outputs) : outputs;
  }

  /** The SDK's data on a run that failed. */
  #resultOf(error: unknown): Result | undefined {
    const state = error instanceof AgentsError ? error.state : undefined;
    const known = state ?? this.#resumed;
    return known && new RunResult(known);
  }

  #client(): Promise<Client | undefined> {
    return clientOf(this.#agent, this.#settings);
  }
}

/**
 * Whether the recorded text of a call is not its tool's output. The SDK reports a call that it
 * cancelled as "aborted", and one that failed as the text of the error.
 */
function isFailure(text: string, error: unknown): boolean {
  const thrown = error instanceof ToolCallError ? error.error : error;
  const name = thrown instanceof Error ? thrown.name : "Error";
  return (
    text === "aborted" ||
    text === String(thrown) ||
    text.startsWith(`${name}:`) ||
    /^\w*Error(:|$)/.test(text)
  );
}

/** Whether the run waits for an approval, or its stream was left. */
function mayBeResumed(result: Result | undefined, error: unknown): boolean {
  if (result === undefined || error !== undefined) return false;
  const isCancelled = result instanceof StreamedRunResult && result.cancelled;
  return isCancelled || result.interruptions.length > 0;
}

function emitWarning(error: unknown): void {
  const message = `The outputs of a run could not be delivered: ${String(error)}`;
  process.emitWarning(message, { type: "AntiphonWarning", code: "ANTIPHON_DELIVERY" });
}
