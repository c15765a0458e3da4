// Requests to the gateway. A key is held for this tab only.

const KEY = "antiphon-key";

export const key = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set: (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

/** An answer of the gateway that is an error. */
export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function headers(more = {}) {
  const value = key.get();
  return value ? { authorization: `Bearer ${value}`, ...more } : more;
}

/** Reads JSON. */
export async function read(path, options = {}) {
  return (await send("GET", path, undefined, options)).body;
}

/** Sends a request of the API, and returns its JSON and its headers. */
export async function send(method, path, body, { signal } = {}) {
  const init = { method, signal, headers: headers() };
  if (body !== undefined) {
    init.headers["content-type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  const answer = await fetch(path, init);
  const text = await answer.text();
  let parsed = null;
  try {
    parsed = text ? JSON.parse(text) : null;
  } catch {
    throw new Failure(answer.status, `The gateway sent no JSON (status ${answer.status}).`);
  }
  if (!answer.ok) {
    throw new Failure(answer.status, parsed?.error?.message ?? `Status ${answer.status}`);
  }
  return { body: parsed, headers: answer.headers };
}

/** Calls `heard` for each change of a conversation, until `signal` is aborted. Connects again after
 * the connection has ended, later each time. */
export async function listen(heard, signal) {
  for (let wait = 1000; !signal.aborted; wait = Math.min(wait * 2, 30000)) {
    try {
      const answer = await fetch("/inspect/events", { headers: headers(), signal });
      if (!answer.ok) return;
      heard(null);
      wait = 1000;
      await readEvents(answer.body.getReader(), heard);
    } catch {
      if (signal.aborted) return;
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

async function readEvents(reader, heard) {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const events = rest.split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data: "));
      if (data) heard(JSON.parse(data.slice(6)));
    }
  }
}

/** A query string of the values that are set. */
export function query(values) {
  const set = Object.entries(values).filter(([, value]) => value);
  return set.length ? `?${new URLSearchParams(set)}` : "";
}
