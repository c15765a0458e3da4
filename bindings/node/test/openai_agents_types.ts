// A program that the compiler must accept, with marked errors. It does not run.

import { Agent, MemorySession, OpenAIProvider, RunState } from "@openai/agents";
import type { Runner as SdkRunner } from "@openai/agents";
import { statefulFetch } from "antiphon";
import { ConversationBusy, Runner, repairedSession, run } from "antiphon/openai-agents";
import OpenAI from "openai";
import { z } from "zod";

const openAIClient = new OpenAI({ fetch: statefulFetch() });
const runner: SdkRunner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }) });
const outputType = z.object({ color: z.string() });
const agent = new Agent({ name: "typed", outputType });

export async function typed(): Promise<void> {
  const result = await new Runner().run(agent, "Hello");
  const color: string | undefined = result.finalOutput?.color;
  const streamed = await run(agent, [], { stream: true });
  for await (const event of streamed) void event.type;
  const state = await RunState.fromString(agent, result.state.toString());
  await run(agent, state, { conversationId: "conv_1", maxTurns: 2 });
  await runner.run(agent, "Hello", { session: repairedSession(new MemorySession()) });
  const session: MemorySession = repairedSession(new MemorySession());
  new Runner().queueTimeout = 1_000;
  void [color, session];

  // @ts-expect-error: unknown option
  await run(agent, "Hello", { conversation: "conv_1" });
  // @ts-expect-error: a text is not a session
  repairedSession("user-17");
}

export const isBusy = (error: unknown): string | undefined =>
  error instanceof ConversationBusy ? error.conversation : undefined;
