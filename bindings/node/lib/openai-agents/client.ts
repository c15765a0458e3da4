import { OpenAIConversationsSession } from "@openai/agents";
import type { Agent, Model, ModelProvider } from "@openai/agents";

import { deliveringClient, inPosts } from "../deliver.js";
import { accountOf as accountOfRequest } from "../fetch/account.js";
import { deliveringFetchOf } from "../fetch/delivery.js";
import type { Output } from "./outputs.js";

/** The client of the SDK's models, as the SDK's sessions accept it. */
export type Client = NonNullable<
  NonNullable<ConstructorParameters<typeof OpenAIConversationsSession>[0]>["client"]
>;

/** The settings of a runner that choose its model. */
export interface ModelSettings {
  readonly model?: string | Model;
  readonly modelProvider: ModelProvider;
}

/** The limits of each request, so that a lost connection does not delay a run's end for long. */
const DELIVERY = { timeout: 15_000, maxRetries: 1 };

/** The client of an agent's model. Undefined if the model uses another API. */
export async function clientOf(
  agent: Agent<any, any>,
  settings: ModelSettings,
): Promise<Client | undefined> {
  const chosen = agent.model || settings.model || "";
  const model = typeof chosen === "string" ? await settings.modelProvider.getModel(chosen) : chosen;
  const client = (model as { _client?: unknown })._client;
  return isClient(client) ? client : undefined;
}

/** The account of a client: a digest of its address and its credentials. */
export function accountOf(client: Client): string {
  const headers = new Headers({
    authorization: client.apiKey ?? "",
    "openai-organization": client.organization ?? "",
    "openai-project": client.project ?? "",
  });
  return accountOfRequest(new URL(client.baseURL), headers);
}

/** Whether the client uses `statefulFetch`. */
export function isStateful(client: Client): boolean {
  const { fetch } = client as unknown as { fetch?: typeof globalThis.fetch };
  return fetch !== undefined && deliveringFetchOf(fetch) !== undefined;
}

/** Posts the outputs for which the conversation waits. */
export async function post(
  client: Client,
  conversationId: string,
  outputs: readonly Output[],
): Promise<void> {
  const delivering = deliveringClient(client).withOptions(DELIVERY);
  const session = new OpenAIConversationsSession({ conversationId, client: delivering });
  for (const some of inPosts(outputs)) await session.addItems(some);
}

function isClient(client: unknown): client is Client {
  if (typeof client !== "object" || client === null) return false;
  return "conversations" in client && "baseURL" in client;
}
