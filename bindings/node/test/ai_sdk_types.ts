// A program that must compile with both versions of the AI SDK. It does not run.

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAIv3 } from "@ai-sdk/openai-v3";
import { generateText, wrapLanguageModel, type ModelMessage } from "ai";
import * as aiv6 from "ai-v6";
import { mend, stateful, type Report } from "antiphon/ai-sdk";
import OpenAI from "openai";

const middleware = stateful({
  conversations: new OpenAI().conversations,
  onReport: ({ resent, mends }: Report) => console.log(resent, mends.map(({ fault }) => fault)),
  policy: { calls: "drop" },
});

const model = wrapLanguageModel({ model: createOpenAI().responses("m"), middleware });
aiv6.wrapLanguageModel({ model: createOpenAIv3().responses("m"), middleware: [middleware] });

const messages: ModelMessage[] = mend<ModelMessage>([{ role: "user", content: "hi" }]);
const messagesv6: aiv6.ModelMessage[] = mend<aiv6.ModelMessage>([{ role: "user", content: "hi" }]);
void generateText({ model, messages, prepareStep: (step) => ({ messages: mend(step.messages) }) });
void messagesv6;
