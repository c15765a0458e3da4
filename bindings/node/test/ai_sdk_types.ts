// What the type checker has to accept, with both versions of the AI SDK. It is not run.

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAIv3 } from "@ai-sdk/openai-v3";
import { generateText, wrapLanguageModel, type ModelMessage } from "ai";
import { wrapLanguageModel as wrapLanguageModelv6, type ModelMessage as ModelMessagev6 } from "ai-v6";
import { mend, whole, type Report } from "antiphon/ai-sdk";
import OpenAI from "openai";

const middleware = whole({
  conversations: new OpenAI().conversations,
  onReport: ({ resent, mends }: Report) => console.log(resent, mends.map(({ fault }) => fault)),
  policy: { calls: "drop" },
});

const model = wrapLanguageModel({ model: createOpenAI().responses("m"), middleware });
wrapLanguageModelv6({ model: createOpenAIv3().responses("m"), middleware: [middleware] });

const messages: ModelMessage[] = mend<ModelMessage>([{ role: "user", content: "hi" }]);
const messagesv6: ModelMessagev6[] = mend<ModelMessagev6>([{ role: "user", content: "hi" }]);
void generateText({ model, messages, prepareStep: (step) => ({ messages: mend(step.messages) }) });
void messagesv6;
