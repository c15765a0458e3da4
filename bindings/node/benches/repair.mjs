// Measures a repair of objects.
//
//   node repair.mjs [ITEMS.json]
//
// Prints one line of JSON: the median times of a repair of all items, and of its steps.
// Without a file, uses a history of 1,000 valid items of about 400 bytes each.

import { readFileSync } from "node:fs";

import { repair } from "antiphon";

const ROUNDS = 201;

const [file] = process.argv.slice(2);
const items = file ? JSON.parse(readFileSync(file, "utf8")) : history(1000);

const measured = {
  repair_ns: median(() => repair(items)),
  items: items.length,
  bytes: Buffer.byteLength(JSON.stringify(items)),
  stringify_ns: median(() => JSON.stringify(items)),
};
console.log(JSON.stringify(measured));

function median(run) {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.hrtime.bigint();
    run();
    return Number(process.hrtime.bigint() - before);
  });
  return times.sort((one, two) => one - two)[ROUNDS >> 1];
}

/** Turns of a user's text, reasoning, a call, its output, and an answer. */
function history(count) {
  const turns = Array.from({ length: count / 5 }, (_, turn) => turnOf(turn));
  return turns.flat();
}

function turnOf(turn) {
  const id = `${turn}`.padStart(40, "0");
  const text = "The quick brown fox jumps over the lazy dog. ".repeat(6);
  const call_id = `call_${id}`;
  const message = (role, type) => ({ type: "message", role, content: [{ type, text }] });
  return [
    message("user", "input_text"),
    { type: "reasoning", id: `rs_${id}`, summary: [{ type: "summary_text", text }] },
    {
      type: "function_call",
      id: `fc_${id}`,
      call_id,
      name: "look",
      arguments: JSON.stringify({ text }),
      status: "completed",
    },
    { type: "function_call_output", call_id, output: text },
    { ...message("assistant", "output_text"), id: `msg_${id}`, status: "completed" },
  ];
}
