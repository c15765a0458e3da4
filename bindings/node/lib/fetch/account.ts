import { createHash } from "node:crypto";

/** The headers that say whose a request is. */
const CREDENTIALS = [
  "authorization",
  "api-key",
  "x-api-key",
  "openai-organization",
  "openai-project",
] as const;

/** Whose data a request is about: a digest, since keys are not kept. */
export function accountOf(base: URL, headers: Headers): string {
  const hash = createHash("sha256").update(base.origin).update(base.pathname);
  for (const name of CREDENTIALS) hash.update(`\n${name}: ${headers.get(name) ?? ""}`);
  return hash.digest("base64");
}
