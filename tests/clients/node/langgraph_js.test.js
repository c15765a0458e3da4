// LangGraph.js: the agents of LangChain's `createAgent`, and a graph that follows a response chain.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Annotation, MemorySaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { createAgent, createMiddleware } from "langchain";
import { z } from "zod";

import {
  Tenant,
  assertConversationHolds,
  assertEachItemOnce,
  assertOnlyNewIsSent,
} from "./context.js";
import { SCENES, holdDialogue } from "./dialogue.js";
import { BREAKS_OFF, SEEN_MOMENTS, leave, newModel } from "./langchain_model.js";
import { ECHO, FACT, RECALL, assertGoneOn, assertRecalled, titleOf } from "./leaving.js";

const SHORT = process.env.ANTIPHON_CLIENTS === "short";

const ENCRYPTED = { store: false, include: ["reasoning.encrypted_content"] };

/** Who keeps the conversation besides the graph's checkpoints, and which of them are sent. */
const WAYS = {
  conversation_and_checkpoints: { inConversation: true, graph: agent },
  conversation_and_window: { inConversation: true, graph: agentWithWindow },
  previous_response_id: { graph: chain },
  replay_stored: { graph: agent },
  replay_unstored_encrypted: { graph: agent, state: ENCRYPTED },
};

/** The ways to run a graph: at once, or by its stream of states. */
const DELIVERIES = {
  invoke: async (graph, input, config) => (await graph.invoke(input, config)).messages,
  stream: async (graph, input, config) => {
    let last;
    const states = await graph.stream(input, { ...config, streamMode: "values" });
    for await (const state of states) last = state;
    return last.messages;
  },
};

for (const [name, way] of Object.entries(WAYS)) {
  suite(`three turns by ${name}`, () => {
    for (const [delivery, deliver] of Object.entries(DELIVERIES)) {
      for (const [title, scene] of Object.entries(SCENES)) {
        if (SHORT && title !== "one_call" && delivery === "invoke") continue;
        test(`${delivery} ${title}`, () => threeTurns(way, deliver, scene));
      }
    }
  });
}

for (const [name, way] of Object.entries(WAYS)) {
  suite(`a turn that breaks off, by ${name}`, () => {
    for (const moment of SEEN_MOMENTS.filter((moment) => isRecognized(way, moment))) {
      test(`left ${titleOf(moment)}`, () => leftTurn(way, moment));
    }
    if (BREAKS_OFF && way.graph === agent) {
      test("a checkpoint ends in lone reasoning", () => loneReasoning(way));
    }
  });
}

/**
 * A graph calls its tools itself, so no output is late. After a text that broke off, a window of two
 * user messages can be read as a repetition or as new messages: the gateway loses nothing, and
 * reports the repeated message.
 */
function isRecognized({ graph }, { place, lateOutput }) {
  return !lateOutput && !(graph === agentWithWindow && place === "in_text");
}

async function threeTurns(way, deliver, scene) {
  const tenant = new Tenant();
  const echo = newEcho();
  const { graph, config, conversation } = await newGraph(tenant, way, scene.model, echo);
  const ask = async (text) => (await deliver(graph, said(text), config)).at(-1).text;

  const dialogue = await holdDialogue(scene, ask, echo);

  if (scene.model === "sim") return;
  await assertEachItemOnce(tenant, dialogue);
  if (!conversation) return;
  await assertConversationHolds(tenant, conversation, dialogue);
  await assertOnlyNewIsSent(tenant, dialogue);
}

async function leftTurn(way, moment) {
  const tenant = new Tenant();
  const { graph, config } = await newGraph(tenant, way, "fake-model", newEcho());
  await graph.invoke(said(FACT), config);

  await tenant.stopNextAnswer(moment.place);
  await leave((signal) => chunks(graph, said(moment.said), { ...config, signal }), moment);

  assertRecalled((await graph.invoke(said(RECALL), config)).messages.at(-1).text);
  await assertGoneOn(tenant, [FACT, moment.said, RECALL]);
}

/** The model's chunks of a run. */
async function* chunks(graph, input, config) {
  for await (const [chunk] of await graph.stream(input, { ...config, streamMode: "messages" })) {
    yield chunk;
  }
}

/** A graph may keep what a turn that broke off had said: reasoning that nothing follows. */
async function loneReasoning(way) {
  const tenant = new Tenant();
  const { graph, config } = await newGraph(tenant, way, "fake-model", newEcho());
  await graph.invoke(said(FACT), config);
  const summary = [{ type: "summary_text", text: "Echo it." }];
  const reasoning = { type: "reasoning", id: "rs_0123456789abcdef", summary };
  const brokenOff = new AIMessage({ content: "", additional_kwargs: { reasoning } });
  await updateState(graph, config, [new HumanMessage(ECHO), brokenOff]);

  assertRecalled((await graph.invoke(said(RECALL), config)).messages.at(-1).text);
  await assertGoneOn(tenant, [FACT, ECHO, RECALL]);
}

/** An agent has its graph inside. */
async function updateState(graph, config, messages) {
  await (graph.graph ?? graph).updateState(config, { messages });
}

async function newGraph(tenant, way, name, echo) {
  const conversation = way.inConversation ? await tenant.newConversation() : undefined;
  const model = newModel(tenant, name, conversation ? { conversation } : way.state);
  const graph = way.graph(model, [echo.tool], new MemorySaver());
  const config = { configurable: { thread_id: "the only one" }, recursionLimit: 10 };
  return { graph, config, conversation };
}

/** Sends all of its checkpoint. */
function agent(model, tools, checkpointer, middleware = []) {
  return createAgent({ model, tools, checkpointer, middleware });
}

/** Sends the last messages of its checkpoint, from a user's message on. */
function agentWithWindow(model, tools, checkpointer) {
  const wrapModelCall = (request, handler) =>
    handler({ ...request, messages: lastTurns(request.messages) });
  return agent(model, tools, checkpointer, [createMiddleware({ name: "Window", wrapModelCall })]);
}

function lastTurns(messages) {
  const users = messages.flatMap((message, at) => (HumanMessage.isInstance(message) ? at : []));
  return messages.slice(users.at(-2));
}

/** Sends what is new since the last response, whose id is in its state. */
function chain(model, tools, checkpointer) {
  const bound = model.bindTools(tools);
  const state = Annotation.Root({ ...MessagesAnnotation.spec, responseId: Annotation() });
  const ask = async ({ messages, responseId }, config) => {
    const answered = messages.findLastIndex((message) => AIMessage.isInstance(message));
    const options = { ...config, previous_response_id: responseId };
    const message = await bound.invoke(messages.slice(answered + 1), options);
    return { messages: [message], responseId: message.response_metadata.id };
  };
  return new StateGraph(state)
    .addNode("model", ask)
    .addNode("tools", new ToolNode(tools))
    .addEdge("__start__", "model")
    .addConditionalEdges("model", toolsCondition)
    .addEdge("tools", "model")
    .compile({ checkpointer });
}

function said(text) {
  return { messages: [new HumanMessage(text)] };
}

/** The tool `echo(text) -> text`, and what it heard. */
function newEcho() {
  const heard = [];
  const echo = ({ text }) => {
    heard.push(text);
    return text;
  };
  const schema = z.object({ text: z.string() });
  return { tool: tool(echo, { name: "echo", description: "Says the text again.", schema }), heard };
}
