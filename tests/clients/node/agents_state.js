// The owners of the conversation that the OpenAI Agents SDK knows. Each gives a run its input and
// its options, and takes in the result.

import { MemorySession, OpenAIConversationsSession, user } from "@openai/agents";

const UNSTORED = {
  store: false,
  providerData: { include: ["reasoning.encrypted_content"] },
};

/** The owners, and the settings of the model beside each. */
export const WAYS = {
  conversation: { newState: inConversation },
  previous_response_id: { newState: chained },
  conversations_session: {
    newState: (_tenant, client) => inSession(new OpenAIConversationsSession({ client })),
  },
  memory_session: { newState: () => inSession(new MemorySession()) },
  memory_session_unstored: {
    newState: () => inSession(new MemorySession()),
    modelSettings: UNSTORED,
  },
  history: { newState: replayed },
  history_unstored: { newState: replayed, modelSettings: UNSTORED },
};

async function inConversation(tenant) {
  const conversationId = await tenant.newConversation();
  return {
    input: (text) => text,
    options: () => ({ conversationId }),
    accept: () => {},
    conversation: () => conversationId,
  };
}

function chained() {
  let last;
  return {
    input: (text) => text,
    options: () => (last ? { previousResponseId: last } : {}),
    accept: ({ lastResponseId }) => (last = lastResponseId),
    conversation: () => undefined,
    isChain: true,
  };
}

function inSession(session) {
  return {
    input: (text) => text,
    options: () => ({ session }),
    accept: () => {},
    conversation: () =>
      session instanceof OpenAIConversationsSession ? session.sessionId : undefined,
  };
}

function replayed() {
  let items = [];
  return {
    input: (text) => [...items, user(text)],
    options: () => ({}),
    accept: ({ history }) => (items = history),
    conversation: () => undefined,
  };
}
