// opencode in front of the gateway: a dialogue, a command that runs, a session that is continued,
// and turns that are left.

import { suite, test } from "node:test";

import { goesOnAfter, goesOnAfterCommand, holdsDialogue, withAgent } from "./coding_dialogues.js";
import { Opencode } from "./opencode.js";

// The tool of opencode that runs a command; the model calls what the user names.
const COMMAND = "bash: echo hello | tee said.txt";
// A command outlives opencode: it ends with the directory of its test. The next prompt may repeat it,
// and then it ends at once.
const WAIT = "while test -e said.txt; do sleep 1; done";
const ASLEEP = `bash: test -e said.txt || { echo begun > said.txt; ${WAIT}; }`;

suite("opencode holds a dialogue", () => {
  for (const options of [{}, { model: "sim" }]) {
    test(JSON.stringify(options), () =>
      withAgent(Opencode.open(options), (opencode) => holdsDialogue(opencode, COMMAND)),
    );
  }
});

suite("opencode goes on after a turn that is left", () => {
  test("in_text", () => withAgent(Opencode.open(), (opencode) => goesOnAfter(opencode, "in_text", COMMAND)));
  test("while a command runs", () =>
    withAgent(Opencode.open(), (opencode) => goesOnAfterCommand(opencode, ASLEEP)),
  );
});
