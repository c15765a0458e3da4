// Chats as an application stores them: UI messages, including parts of interrupted answers.

import { ECHO, FACT, RECALL, call } from "./ai_sdk.js";

/** The messages of a chat with an answer abandoned at `place`, and a new question. */
export async function leftChat(sdk, provider, model, place) {
  const chat = [uiMessage("user", FACT)];
  chat.push(await told(sdk, model, chat));
  chat.push(uiMessage("user", place === "in_text" ? "Hello there" : ECHO));
  await provider.hold(place);
  chat.push(await told(sdk, model, chat, IS_AT[place]));
  chat.push(uiMessage("user", RECALL));
  return sdk.convertToModelMessages(chat);
}

/**
 * A chat with or without a conversation. Every turn sends all messages of the chat to a model of
 * `modelOf`. The chat is serialized and parsed between turns.
 */
export async function chatOver(sdk, modelOf, said, openai) {
  let chat = [];
  for (const text of said) {
    chat.push(uiMessage("user", text));
    chat.push(await told(sdk, modelOf(), chat, undefined, openai));
    chat = JSON.parse(JSON.stringify(chat));
  }
  return chat;
}

const IS_AT = {
  in_reasoning: ({ type }) => type.startsWith("reasoning"),
  in_text: ({ type }) => type === "text-delta",
};

/** The message that a chat stores of an answer abandoned at the part `isAt`. */
async function told(sdk, model, chat, isAt = () => false, openai = {}) {
  const messages = await sdk.convertToModelMessages(chat);
  const leaving = new AbortController();
  const abortSignal = leaving.signal;
  const options = { ...call(sdk, model, messages, openai), abortSignal, onError() {} };
  let kept;
  const parts = sdk.streamText(options).toUIMessageStream({
    generateMessageId: () => crypto.randomUUID(),
    onFinish: ({ responseMessage }) => (kept = responseMessage),
  });
  for await (const part of parts) {
    if (part.type === "error") throw new Error(part.errorText);
    if (isAt(part)) leaving.abort();
  }
  return kept;
}

function uiMessage(role, text) {
  return { id: crypto.randomUUID(), role, parts: [{ type: "text", text }] };
}
