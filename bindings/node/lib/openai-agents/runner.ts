import { Runner as SdkRunner, StreamedRunResult } from "@openai/agents";
import type {
  Agent,
  NonStreamRunOptions,
  RunConfig,
  RunResult,
  StreamRunOptions,
} from "@openai/agents";

import { currentRun, Run } from "./run.js";
import type { Input, Options } from "./run.js";
import { finishBeforeEnd } from "./stream.js";

/**
 * Runs agents like the SDK's `Runner`, with the same parameters and results.
 *
 * With a conversation that a server stores:
 *
 * - When a run ends, it posts the outputs that no request has sent to the conversation. This
 *   includes a final output taken from a tool, `maxTurns`, a tool that throws, an abort.
 * - Runs of one conversation in this process wait for each other, in order of arrival. A run
 *   rejects with `ConversationBusy` after `queueTimeout`.
 *
 * With a chain of responses, the next run that continues the response sends the outputs.
 */
export class Runner extends SdkRunner {
  /** The time in milliseconds that a run waits for other runs of its conversation. */
  queueTimeout = 120_000;

  constructor(config: Partial<RunConfig> = {}) {
    super(config);
    this.on("agent_tool_end", (_context, agent, _tool, result, { toolCall }) => {
      if (toolCall.type === "function_call") currentRun()?.record(agent, toolCall, result);
    });
  }

  /** Does the same as the SDK's `run`. */
  override run<TAgent extends Agent<any, any>, TContext = undefined>(
    agent: TAgent,
    input: Input<TContext, TAgent>,
    options?: NonStreamRunOptions<TContext, TAgent>,
  ): Promise<RunResult<TContext, TAgent>>;

  /** Does the same as the SDK's `run` with `stream: true`. The stream ends after the delivery. */
  override run<TAgent extends Agent<any, any>, TContext = undefined>(
    agent: TAgent,
    input: Input<TContext, TAgent>,
    options?: StreamRunOptions<TContext, TAgent>,
  ): Promise<StreamedRunResult<TContext, TAgent>>;

  override async run(
    agent: Agent<any, any>,
    input: Input,
    options?: Options,
  ): Promise<RunResult<any, any> | StreamedRunResult<any, any>> {
    const run = new Run(agent, input, this.config, options ?? {});
    await run.enter(this.queueTimeout);
    try {
      const given = await run.inputFor(input);
      const asked = options as StreamRunOptions<any>;
      const result = await run.within(() => super.run(agent, given, asked));
      await finishBeforeEnd(result, run);
      return result;
    } catch (error) {
      await run.finish(undefined, error);
      throw error;
    }
  }
}

let defaultRunner: Runner | undefined;

/** Does the same as the SDK's `run`, with a `Runner` of this package. */
export function run<TAgent extends Agent<any, any>, TContext = undefined>(
  agent: TAgent,
  input: Input<TContext, TAgent>,
  options?: NonStreamRunOptions<TContext, TAgent>,
): Promise<RunResult<TContext, TAgent>>;

/** Does the same as the SDK's `run` with `stream: true`. */
export function run<TAgent extends Agent<any, any>, TContext = undefined>(
  agent: TAgent,
  input: Input<TContext, TAgent>,
  options?: StreamRunOptions<TContext, TAgent>,
): Promise<StreamedRunResult<TContext, TAgent>>;

export function run(agent: Agent<any, any>, input: Input, options?: object): Promise<unknown> {
  defaultRunner ??= new Runner();
  return defaultRunner.run(agent, input, options);
}
