// Codex, as its npm package brings it: one user with a home, a working directory and a tenant of its
// own. `codex exec --json` says a prompt, and writes an event a line.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { CodingAgent } from "./coding_agent.js";

const PROGRAM = fileURLToPath(new URL("node_modules/@openai/codex/bin/codex.js", import.meta.url));
const MCP_SERVER = fileURLToPath(new URL("codex_mcp.js", import.meta.url));

/**
 * How Codex is told of the gateway: as a provider of its own, or by the address of OpenAI's API. Of
 * OpenAI it wants its history compacted by the server, and a WebSocket.
 */
export const OWN_PROVIDER = "own";
export const OPENAI = "openai";

/** One user of Codex, alone with its files and its key. `close` it at the end. */
export class Codex extends CodingAgent {
  static async open(options = {}) {
    const files = await mkdtemp(join(tmpdir(), "codex-"));
    const codex = new Codex(files, options);
    if (codex.launched) await codex.install();
    else codex.wire = await Wire.to(new URL(codex.tenant.baseURL));
    return codex;
  }

  constructor(files, options) {
    const defaults = { provider: OWN_PROVIDER, websockets: false, model: "fake-model" };
    super(files, { ...defaults, ...options, name: "codex", program: PROGRAM });
  }

  /** Says a prompt in this user's only session, and returns the model's last words. */
  async ask(prompt, settings = {}) {
    const run = this.start(prompt, settings);
    const { status, events, errors } = await run.ended;
    const failures = events.filter(({ type }) => type === "error" || type === "turn.failed");
    assert.deepEqual(failures, [], errors);
    assert.equal(status, 0, errors);
    const said = events.flatMap(({ item }) => (item?.type === "agent_message" ? [item.text] : []));
    return said.at(-1) ?? "";
  }

  /** Starts a turn. Its events arrive one by one. */
  start(prompt, settings = {}) {
    const config = Object.entries({ ...this.config(), ...settings });
    const command = this.session ? ["exec", "resume"] : ["exec"];
    const flags = ["--json", "--skip-git-repo-check", ...config.flatMap(([k, v]) => ["-c", `${k}=${v}`])];
    const session = this.session ? [this.session] : [];
    const args = [...command, ...flags, ...session, prompt];
    return this.run(args, (event) => {
      if (event.type === "thread.started") this.session = event.thread_id;
    });
  }

  async commandStarts(run) {
    await run.event(({ type, item }) => type === "item.started" && item.type === "command_execution");
  }

  async close() {
    await super.close();
    await this.wire?.close();
  }

  config() {
    return {
      ...(this.launched ? {} : this.providerConfig()),
      // The commands of the tests are their own.
      sandbox_mode: '"danger-full-access"',
      "mcp_servers.parrot": `{command=${JSON.stringify(process.execPath)},args=[${JSON.stringify(MCP_SERVER)}]}`,
    };
  }

  providerConfig() {
    const url = JSON.stringify(`${this.wire.url}/v1`);
    const socket = `supports_websockets=${this.websockets}`;
    const retries = "request_max_retries=0,stream_max_retries=0";
    const provider = `{name="gateway",base_url=${url},env_key="GATEWAY_KEY",${socket},${retries}}`;
    const chosen = { model_provider: "gateway", "model_providers.gateway": provider };
    const model = JSON.stringify(this.model);
    return { ...(this.provider === OPENAI ? { openai_base_url: url } : chosen), model };
  }

  variables() {
    return { CODEX_HOME: this.files };
  }

  settings() {
    return { [this.provider === OPENAI ? "CODEX_API_KEY" : "GATEWAY_KEY"]: this.tenant.apiKey };
  }
}

/** A relay to the gateway, which counts the connections that became WebSockets. */
class Wire {
  static async to(gateway) {
    const wire = new Wire();
    wire.server = createServer((client) => wire.relay(client, gateway)).listen(0, "127.0.0.1");
    await once(wire.server, "listening");
    wire.url = `http://127.0.0.1:${wire.server.address().port}`;
    return wire;
  }

  upgrades = 0;
  sockets = new Set();

  relay(client, gateway) {
    const server = connect(Number(gateway.port), gateway.hostname);
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.sockets.delete(socket));
    }
    server.once("data", (head) => {
      if (head.toString("latin1").startsWith("HTTP/1.1 101")) this.upgrades += 1;
    });
    client.pipe(server).pipe(client);
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroy());
  }

  async close() {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }
}
