// Writes the histories that JavaScript's libraries keep of one conversation, whole and cut short.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  AIMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { convertToModelMessages, readUIMessageStream, stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { z } from "zod";

const [SYSTEM, QUESTION, THANKS] = ["Be brief.", "Weather in Paris and Rome?", "Thanks."];
const [LOOKING, ANSWER] = ["I look.", "20 degrees in Paris, 25 in Rome."];
const CITIES = ["Paris", "Rome"];
const DEGREES = { Paris: "20 degrees", Rome: "25 degrees" };

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function answerOf(chunks, unified) {
  const finish = { type: "finish", finishReason: { unified, raw: unified }, usage };
  return { stream: simulateReadableStream({ chunks: [...chunks, finish] }) };
}

const textOf = (delta) => [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta },
  { type: "text-end", id: "t" },
];
const calls = CITIES.map((city, nth) => ({
  type: "tool-call",
  toolCallId: `call_${nth + 1}`,
  toolName: city === "Rome" ? "distant" : "weather",
  input: JSON.stringify({ city }),
}));

/** A tool of which Rome's is run elsewhere if the turn is cut short: its result never comes. */
function toolsOf(isWhole) {
  const inputSchema = z.object({ city: z.string() });
  const execute = async ({ city }) => DEGREES[city];
  return {
    weather: tool({ inputSchema, execute }),
    distant: isWhole ? tool({ inputSchema, execute }) : tool({ inputSchema }),
  };
}

async function uiMessages(isWhole) {
  const answers = [
    answerOf([...textOf(LOOKING), ...calls], "tool-calls"),
    answerOf(textOf(ANSWER), "stop"),
  ];
  const model = new MockLanguageModelV3({ doStream: async () => answers.shift() });
  const result = streamText({
    model,
    system: SYSTEM,
    prompt: QUESTION,
    tools: toolsOf(isWhole),
    stopWhen: stepCountIs(3),
  });
  let answer;
  const stream = result.toUIMessageStream({ generateMessageId: () => "answer" });
  for await (const message of readUIMessageStream({ stream })) answer = message;
  const said = (id, role, text) => ({ id, role, parts: [{ type: "text", text }] });
  return [
    said("system", "system", SYSTEM),
    said("question", "user", QUESTION),
    answer,
    said("thanks", "user", THANKS),
  ];
}

function langchain(isWhole) {
  const tool_calls = CITIES.map((city, nth) => ({
    name: city === "Rome" ? "distant" : "weather",
    args: { city },
    id: `call_${nth + 1}`,
    type: "tool_call",
  }));
  const answered = isWhole ? CITIES : CITIES.slice(0, 1);
  return [
    new SystemMessage(SYSTEM),
    new HumanMessage(QUESTION),
    new AIMessage({ content: LOOKING, tool_calls }),
    ...answered.map(
      (city, nth) => new ToolMessage({ content: DEGREES[city], tool_call_id: `call_${nth + 1}` }),
    ),
    ...(isWhole ? [new AIMessage(ANSWER)] : []),
    new HumanMessage(THANKS),
  ];
}

const FORMS = {
  "ai-sdk-ui": uiMessages,
  "ai-sdk-model": async (isWhole) => convertToModelMessages(await uiMessages(isWhole)),
  "ai-sdk-use-chat-request": async (isWhole) => ({
    id: "chat",
    messages: await uiMessages(isWhole),
    trigger: "submit-message",
  }),
  "langchain-js-stored": async (isWhole) => mapChatMessagesToStoredMessages(langchain(isWhole)),
  "langchain-js-serialized": async (isWhole) => langchain(isWhole),
};

const [folder] = process.argv.slice(2);
for (const [name, history] of Object.entries(FORMS)) {
  for (const [state, isWhole] of [["whole", true], ["cut-short", false]]) {
    const text = JSON.stringify(await history(isWhole), null, 2);
    writeFileSync(join(folder, `${name}.${state}.json`), `${text}\n`);
  }
}
