// Chats as an application keeps them: messages of its interface, with what it has of answers that
// broke off.

import { ECHO, FACT, RECALL, call } from "./ai_sdk.js";

/** The messages of a chat in which an answer was left at `place`, and a question behind them. */
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
 * A chat over everything that is said, in a conversation or without one. Every answer is asked for
 * with all messages of the chat, by a model that `modelOf` gives; the chat is stored and read in
 * between.
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

/** The message that a chat keeps of an answer, which is left as soon as `isAt` a part. */
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
