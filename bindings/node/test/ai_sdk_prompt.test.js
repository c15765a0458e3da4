// Changes of a prompt, part by part. No request is sent.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { mend, stateful } from "antiphon/ai-sdk";

const SILENCE = "No output was recorded for this call.";

suite("a prompt", () => {
  test("without faults keeps its message objects", async () => {
    const prompt = [
      { role: "system", content: "Be brief." },
      user("Echo hello"),
      assistant(reasoning("rs_1"), reasoning("rs_1", "And on."), called("call_1", "fc_1")),
      tool(result("call_1")),
      assistant(said("echo said: hello", "msg_1")),
      user("Thanks"),
    ];
    const { sent, reports } = await opened(prompt);
    assert.deepEqual(reports, []);
    assertSame(sent, prompt);
  });

  test("with an unanswered call gets a placeholder result", async () => {
    const prompt = [user("Echo"), assistant(called("call_1")), user("Well?")];
    const { sent, mends } = await opened(prompt);
    assert.deepEqual(mends, ["unanswered_call answered"]);
    assertSame([sent[0], sent[1], sent[3]], prompt);
    assert.deepEqual(sent[2], {
      role: "tool",
      content: [result("call_1", { type: "text", value: SILENCE })],
    });
  });

  test("gets the placeholder next to other results", async () => {
    const one = result("call_1");
    const prompt = [
      user("Echo twice"),
      assistant(called("call_1"), called("call_2")),
      tool(one),
      user("Well?"),
    ];
    const { sent } = await opened(prompt);
    assert.deepEqual(resultsIn(sent), ["call_1", "call_2"]);
    assert.equal(sent.length, 4);
    assert.equal(sent[2].content[0], one);
  });

  test("loses duplicates and nothing else", async () => {
    const answer = assistant(called("call_1", "fc_1"));
    const prompt = [
      user("Echo hello"),
      answer,
      tool(result("call_1")),
      assistant(called("call_1", "fc_1")),
      tool(result("call_1")),
      user("Thanks"),
    ];
    const { sent, mends } = await opened(prompt);
    assert.deepEqual(mends.toSorted(), ["duplicate_item dropped", "duplicate_output dropped"]);
    assertSame([sent[0], sent[1], sent.at(-1)], [prompt[0], answer, prompt[5]]);
    assert.equal(sent.length, 4);
  });

  test("loses a result without a call", async () => {
    const prompt = [user("hi"), tool(result("call_9")), user("there")];
    const { sent, mends } = await opened(prompt);
    assert.deepEqual(mends, ["output_without_call dropped"]);
    assertSame(sent, [prompt[0], prompt[2]]);
  });

  test("loses orphaned reasoning with all its parts", async () => {
    const prompt = [
      user("hi"),
      assistant(reasoning("rs_1"), reasoning("rs_1", "And on.")),
      user("there"),
    ];
    const { sent, mends } = await opened(prompt);
    assert.deepEqual(mends, ["lone_reasoning dropped"]);
    assertSame(sent, [prompt[0], prompt[2]]);
  });

  test("keeps reasoning of other providers", async () => {
    const providerOptions = { other: { sealed: "x" } };
    const thinking = { type: "reasoning", text: "Hm.", providerOptions };
    const prompt = [user("hi"), assistant(thinking), user("there")];
    const { sent, reports } = await opened(prompt);
    assert.deepEqual(reports, []);
    assertSame(sent, prompt);
  });

  test("keeps provider-executed calls", async () => {
    const prompt = [
      user("Search"),
      assistant(
        reasoning("rs_1"),
        { ...called("ws_1"), toolName: "web_search", providerExecuted: true },
        { ...result("ws_1"), toolName: "web_search" },
        said("Found.", "msg_1"),
      ),
      user("Thanks"),
    ];
    const { sent, reports } = await opened(prompt);
    assert.deepEqual(reports, []);
    assertSame(sent, prompt);
  });

  test("keeps provider-executed calls of other providers", async () => {
    const ran = (id) => ({ ...called(id), providerExecuted: true });
    const prompt = [
      user("Search"),
      assistant(ran("srvtoolu_1"), ran("srvtoolu_2"), result("srvtoolu_1"), result("srvtoolu_2")),
      user("And?"),
      assistant(result("srvtoolu_2"), { ...said("Found.") }),
      user("Thanks"),
    ];
    const { sent, reports } = await opened(prompt);
    assert.deepEqual(reports, []);
    assertSame(sent, prompt);
  });

  test("keeps ids of other servers", async () => {
    const providerOptions = { mine: { itemId: "item-1", reasoningEncryptedContent: "sealed" } };
    const thinking = { type: "reasoning", text: "Hm.", providerOptions };
    const prompt = [user("hi"), assistant(thinking, { ...said("Hello."), providerOptions })];
    const { sent, reports } = await opened(prompt);
    assert.deepEqual(reports, []);
    assertSame(sent, prompt);
  });

  test("keeps the answers to a provider's requests for approval", async () => {
    const approval = { type: "tool-approval-response", approvalId: "mcpr_1", approved: true };
    const prompt = [user("Go"), assistant(said("May I?", "msg_1")), tool(approval)];
    const { sent, reports } = await opened(prompt);
    assert.deepEqual(reports, []);
    assertSame(sent, prompt);
  });

  test("loses a malformed id and keeps other options", async () => {
    const part = { ...said("Hello.", "item_1") };
    part.providerOptions.openai.phase = "final_answer";
    const { sent, mends } = await opened([user("hi"), assistant(part), user("there")]);
    assert.deepEqual(mends, ["malformed_id id_removed"]);
    assert.deepEqual(sent[1].content[0].providerOptions, { openai: { phase: "final_answer" } });
    assert.equal(part.providerOptions.openai.itemId, "item_1");
  });

  test("renames one of two calls with one id", async () => {
    const prompt = [
      user("Echo"),
      assistant({ ...called("call_1"), input: { text: "one" } }),
      tool(result("call_1")),
      user("Again"),
      assistant({ ...called("call_1"), input: { text: "two" } }),
      tool(result("call_1", { type: "text", value: "two" })),
      user("Thanks"),
    ];
    const { sent } = await opened(prompt);
    const [first, second] = callsIn(sent);
    assert.notEqual(first, second);
    assert.deepEqual(resultsIn(sent), [first, second]);
  });

  test("can be rejected instead", async () => {
    const prompt = [user("Echo"), assistant(called("call_1")), user("Well?")];
    const params = { prompt };
    await assert.rejects(stateful({ policy: "reject" }).transformParams({ params }), {
      name: "UnansweredCall",
      message: "No tool output found for function call call_1.",
    });
  });

  test("may hold pictures, and values without a JSON form", async () => {
    const picture = { type: "file", mediaType: "image/png", data: new Uint8Array(9) };
    const prompt = [
      { role: "user", content: [picture] },
      assistant({ ...called("call_1"), input: { big: 10n } }),
      tool(result("call_1", { type: "json", value: [undefined] })),
    ];
    const { sent } = await opened(prompt);
    assertSame(sent, prompt);
  });
});

suite("in a conversation", () => {
  const held = [
    { type: "message", id: "msg_0", role: "developer", content: "Be brief." },
    { type: "message", id: "msg_1", role: "user", content: [{ type: "input_text", text: "hi" }] },
    { type: "message", id: "msg_2", role: "assistant", content: [] },
  ];
  const prompt = [
    { role: "system", content: "Be brief." },
    user("hi"),
    assistant(said("Hello.", "msg_2")),
    user("there"),
  ];

  for (const provider of ["openai", "azure"]) {
    test(`of ${provider}, held items are listed and left out`, async () => {
      const asked = [];
      const list = async function* (...question) {
        asked.push(question);
        yield* held;
      };
      const reports = [];
      const onReport = (report) => reports.push(report);
      const middleware = stateful({ conversations: { items: { list, delete: list } }, onReport });
      const providerOptions = { [provider]: { conversation: "conv_1" } };

      const sent = await middleware.transformParams({ params: { prompt, providerOptions } });

      assert.deepEqual(asked, [["conv_1", { order: "asc", limit: 100 }, {}]]);
      assertSame(sent.prompt, [prompt[3]]);
      assert.equal(sent.providerOptions, providerOptions);
      const state = { by: "conversation", id: "conv_1" };
      assert.deepEqual(reports, [{ resent: 3, mends: [], state }]);
    });
  }

  test("whose list fails, nothing is sent", async () => {
    const list = () => {
      throw new Error("no connection");
    };
    const middleware = stateful({ conversations: { items: { list, delete: list } } });
    const providerOptions = { openai: { conversation: "conv_1" } };
    const opening = middleware.transformParams({ params: { prompt, providerOptions } });
    await assert.rejects(opening, /no connection/);
  });

  test("an aborted call lists nothing more", async () => {
    const leaving = new AbortController();
    const signals = [];
    const list = async function* (_id, _query, { signal }) {
      signals.push(signal);
      for (let number = 0; ; number += 1) {
        if (number === 3) leaving.abort(new Error("Enough."));
        yield { type: "message", id: `msg_${number}`, role: "user", content: [] };
      }
    };
    const middleware = stateful({ conversations: { items: { list, delete: list } } });
    const providerOptions = { openai: { conversation: "conv_1" } };
    const params = { prompt, providerOptions, abortSignal: leaving.signal };
    await assert.rejects(middleware.transformParams({ params }), /Enough\./);
    assert.deepEqual(signals, [leaving.signal]);
  });

  test("without a state id, nothing is listed", async () => {
    const list = () => assert.fail("asked");
    const middleware = stateful({ conversations: { items: { list, delete: list } } });
    const providerOptions = { openai: { conversation: null, previousResponseId: undefined } };
    const sent = await middleware.transformParams({ params: { prompt, providerOptions } });
    assertSame(sent.prompt, prompt);
  });
});

suite("with a previous response", () => {
  const providerOptions = { openai: { previousResponseId: "resp_1" } };

  test("reasoning that the SDK leaves out is no fault", async () => {
    const prompt = [user("hi"), assistant(reasoning("rs_1")), user("there")];
    for (const policy of ["repair", "reject", { reasoning: "reject" }]) {
      const { mends } = await opened(prompt, { policy, providerOptions });
      assert.deepEqual(mends, []);
    }
  });

  test("orphaned encrypted reasoning without an id is a fault", async () => {
    const openai = { reasoningEncryptedContent: "sealed" };
    const sealed = { type: "reasoning", text: "Hm.", providerOptions: { openai } };
    const prompt = [user("hi"), assistant(sealed), user("there")];
    const { mends } = await opened(prompt, { providerOptions });
    assert.deepEqual(mends, ["lone_reasoning dropped"]);
    await assert.rejects(
      opened(prompt, { policy: "reject", providerOptions }),
      /without its required following item/,
    );
  });
});

suite("messages of a program", () => {
  test("are repaired like prompts, and can be texts", () => {
    const messages = [
      { role: "user", content: "Echo" },
      { role: "assistant", content: [called("call_1")] },
      { role: "user", content: "Well?" },
      { role: "assistant", content: "Hm." },
    ];
    const mended = mend(messages);
    assertSame([mended[0], mended[1], mended[3], mended[4]], messages);
    assert.equal(mended[2].role, "tool");
  });

  test("get a late result moved after its call, with a report", () => {
    const late = result("call_2");
    const messages = [
      user("Echo twice"),
      assistant(called("call_1"), called("call_2")),
      tool(result("call_1")),
      user("Well?"),
      assistant({ type: "text", text: "Wait." }),
      tool(late),
      user("Thanks"),
    ];
    const mends = [];
    const onReport = (report) => mends.push(...report.mends);
    const mended = mend(messages, { onReport });
    const before = [messages[0], messages[1], messages[3], messages[4], messages[6]];
    assertSame(mended.toSpliced(2, 1), before);
    assert.equal(mended[2].content[1], late);
    const told = mends.map(({ position, fault, action }) => ({ position, fault, action }));
    assert.deepEqual(told, [{ position: 6, fault: "unanswered_call", action: "moved" }]);
    assertSame(mend(mended), mended);
    assert.throws(() => mend(messages, { policy: "reject" }), { name: "UnansweredCall" });
  });

  test("get a placeholder before later instructions", () => {
    const instructions = { role: "system", content: "Be brief." };
    const mended = mend([user("Echo"), assistant(called("call_1")), instructions]);
    assert.deepEqual(mended.map(({ role }) => role), ["user", "assistant", "tool", "system"]);
  });

  test("keep a call that was just approved or denied", () => {
    const request = { type: "tool-approval-request", approvalId: "a_1", toolCallId: "call_1" };
    const answer = { type: "tool-approval-response", approvalId: "a_1", approved: true };
    const messages = [user("Echo"), assistant(called("call_1"), request), tool(answer)];
    assertSame(mend(messages), messages);
  });
});

/** The sent prompt and the reports. */
async function opened(prompt, { policy, providerOptions } = {}) {
  const reports = [];
  const middleware = stateful({ policy, onReport: (report) => reports.push(report) });
  const given = structuredClone(prompt);
  const { prompt: sent } = await middleware.transformParams({ params: { prompt, providerOptions } });
  assert.deepEqual(prompt, given, "what is given is not changed");
  const mends = reports.flatMap((report) => report.mends.map((m) => `${m.fault} ${m.action}`));
  return { sent, reports, mends };
}

function assertSame(sent, expected) {
  assert.equal(sent.length, expected.length);
  for (const [at, message] of expected.entries()) assert.equal(sent[at], message, `message ${at}`);
}

function callsIn(prompt) {
  return idsOf(prompt, "tool-call");
}

function resultsIn(prompt) {
  return idsOf(prompt, "tool-result");
}

function idsOf(prompt, type) {
  const parts = prompt.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return parts.filter((part) => part.type === type).map((part) => part.toolCallId);
}

function user(text) {
  return { role: "user", content: [{ type: "text", text }] };
}

function assistant(...content) {
  return { role: "assistant", content };
}

function tool(...content) {
  return { role: "tool", content };
}

function said(text, itemId) {
  return { type: "text", text, providerOptions: { openai: { itemId } } };
}

function reasoning(itemId, text = "Hm.") {
  return { type: "reasoning", text, providerOptions: { openai: { itemId } } };
}

function called(toolCallId, itemId) {
  const options = itemId && { providerOptions: { openai: { itemId } } };
  return { type: "tool-call", toolCallId, toolName: "echo", input: { text: "hello" }, ...options };
}

function result(toolCallId, output = { type: "text", value: "hello" }) {
  return { type: "tool-result", toolCallId, toolName: "echo", output };
}
