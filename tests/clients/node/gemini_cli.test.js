// Gemini CLI in front of the gateway: a dialogue, tools that run, its choice of a model, a session that is
// resumed, and turns that are left.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { goesOnAfter, goesOnAfterCommand, holdsDialogue, withAgent } from "./coding_dialogues.js";
import { GeminiCli } from "./gemini_cli.js";
import { FACT } from "./leaving.js";

// The tool of Gemini CLI that runs a command; the model calls what the user names.
const COMMAND = "run_shell_command: echo hello | tee said.txt";
// The next prompt may repeat the command, which then ends at once.
const ASLEEP = "run_shell_command: test -e said.txt || { echo begun > said.txt; sleep 60; }";

suite("Gemini CLI holds a dialogue", () => {
  for (const options of [{}, { model: "sim" }]) {
    test(JSON.stringify(options), () =>
      withAgent(GeminiCli.open(options), (gemini) => holdsDialogue(gemini, COMMAND)),
    );
  }
});

test("Gemini CLI asks the model for a choice in JSON", () => {
  return withAgent(GeminiCli.open({ model: "sim", routes: true }), async (gemini) => {
    assert.notEqual(await gemini.ask(FACT), "");
  });
});

suite("Gemini CLI goes on after a turn that is left", () => {
  test("in_text", () => withAgent(GeminiCli.open(), (gemini) => goesOnAfter(gemini, "in_text", COMMAND)));
  test("while a command runs", () =>
    withAgent(GeminiCli.open(), (gemini) => goesOnAfterCommand(gemini, ASLEEP)),
  );
});
