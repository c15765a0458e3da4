import { createHash } from "node:crypto";

/** The headers that identify the account of a request. */
const CREDENTIALS = [
  "authorization",
  "api-key",
  "x-api-key",
  "openai-organization",
  "openai-project",
] as const;

/** The account of a request: a digest, so that no key is stored. */
export function accountOf(base: URL, headers: Headers): string {
  const hash = createHash("sha256").update(base.origin).update(base.pathname);
  for (const name of CREDENTIALS) hash.update(`\n${name}: ${headers.get(name) ?? ""}`);
  return hash.digest("base64");
}
