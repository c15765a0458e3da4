// What the model is said to answer, whatever its API.

/** The one tool, which every case may call. */
export const WEATHER = {
  name: "get_weather",
  description: "The weather in a city.",
  schema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  run: ({ city }) => ({ city, sky: "clear" }),
};

/** A custom tool of OpenAI's, whose input is a text. */
export const SQL = { name: "run_sql", description: "Runs one query." };

const PIECES = ["The sky over ", "Paris is \"clear\".\n", "Grüße 👋"];
const TEXT = { text: PIECES };
const call = (id, ...input) => ({ call: id, tool: WEATHER.name, input });

/**
 * A case: what the model answers, a list for each request (`answers`), of texts, reasoning and
 * calls, each in the pieces in which they come; whether a run of the AI SDK runs the tools (`runs`);
 * and which providers have it (`of`, by default all).
 */
export const CASES = {
  text: { answers: [[TEXT]] },
  "reasoning-then-call": {
    answers: [
      [
        { reasoning: ["The user wants the weather. ", "I ask the tool."] },
        call("call_paris", '{"ci', 'ty":', '"Paris"}'),
      ],
      [TEXT],
    ],
    runs: true,
  },
  "two-calls": {
    answers: [[call("call_paris", '{"city":', '"Paris"}'), call("call_rome", '{"city":"Rome"}')]],
  },
  error: { answers: [[{ text: ["The sky over "] }, { error: "The server is overloaded." }]] },
  "custom-tool": {
    answers: [[{ call: "call_sql", tool: SQL.name, text: ["SELECT ", '"a"', "\nFROM t"] }]],
    of: ["openai"],
  },
  "provider-tool": {
    answers: [[{ search: "ws_1", query: "weather Paris", url: "https://weather.example/paris" }, TEXT]],
    of: ["openai", "anthropic"],
  },
};
