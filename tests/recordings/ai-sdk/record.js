// Records what the AI SDK makes of fixed answers: `node record.js DIRECTORY`.
//
// For each version, provider and case two files: the parts of the model's `doStream`, and those of
// `streamText`'s `fullStream`, one JSON object a line.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { CASES, SQL, WEATHER } from "./cases.js";
import { PROVIDERS, playing } from "./providers.js";

const VERSIONS = [6, 7];
const PROMPT = "How is the weather in Paris?";

globalThis.AI_SDK_LOG_WARNINGS = false;

async function main(directory) {
  for (const version of VERSIONS) {
    const sdk = await import(`ai${version}`);
    for (const [name, provider] of Object.entries(PROVIDERS)) {
      const package_ = await import(`ai${version}-${name}`);
      for (const [title, scene] of Object.entries(CASES)) {
        if (scene.of && !scene.of.includes(name)) continue;
        const model = () => provider.model(package_, playing(provider.server, scene.answers));
        const file = (level) => join(directory, `recorded-ai${version}-${name}-${title}-${level}.ndjson`);
        writeFileSync(file("model"), await recorded(modelParts(model(), provider)));
        writeFileSync(file("full"), await recorded(runParts(sdk, model(), provider, scene)));
      }
    }
  }
}

/** What the model itself says. */
async function* modelParts(model, provider) {
  const tools = [
    { type: "function", ...described(WEATHER), inputSchema: WEATHER.schema },
    ...providerTools(model, provider),
  ];
  const prompt = [{ role: "user", content: [{ type: "text", text: PROMPT }] }];
  const { stream } = await model.doStream({ prompt, tools, providerOptions: provider.options });
  yield* stream;
}

/** What a run of the SDK says, which makes up to two requests where it runs the tools. */
async function* runParts(sdk, model, provider, scene) {
  const { name, schema, description, run } = WEATHER;
  const execute = scene.runs ? { execute: run } : {};
  const ours = sdk.tool({ description, inputSchema: sdk.jsonSchema(schema), ...execute });
  const theirs = providerTools(model, provider).map((tool) => [tool.name, { ...tool, inputSchema: sdk.jsonSchema({}) }]);
  let ids = 0;
  const result = sdk.streamText({
    model,
    prompt: PROMPT,
    tools: { [name]: ours, ...Object.fromEntries(theirs) },
    stopWhen: sdk.stepCountIs(2),
    maxRetries: 0,
    providerOptions: provider.options,
    onError: () => {},
    _internal: { generateId: () => `id-${++ids}`, generateCallId: () => `id-${++ids}`, now: () => 0 },
  });
  yield* result.fullStream;
}

/** The tools that the provider defines. */
function providerTools(model, { search }) {
  const type = model.specificationVersion === "v2" ? "provider-defined" : "provider";
  const custom = { type, id: "openai.custom", name: SQL.name, args: described(SQL) };
  const isOpenAI = search?.id.startsWith("openai");
  return [
    ...(search ? [{ type, isProviderExecuted: true, ...search }] : []),
    ...(isOpenAI ? [{ ...custom, isProviderExecuted: false }] : []),
  ];
}

const described = ({ name, description }) => ({ name, description });

async function recorded(parts) {
  const lines = [];
  for await (const part of parts) lines.push(`${JSON.stringify(part, plainly)}\n`);
  return lines.join("");
}

/** Errors by name and message; what differs from one recording to the next by one value. */
function plainly(key, value) {
  const raw = this[key];
  if (raw instanceof Error) return { name: raw.name, message: raw.message };
  if (raw instanceof Date) return "2026-01-01T00:00:00.000Z";
  if (key === "performance" || key === "request") return {};
  if (key === "id" && this.type === "source") return "source";
  return value;
}

await main(process.argv[2]);
