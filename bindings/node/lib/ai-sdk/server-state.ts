import type { ProviderValues } from "./shapes.js";

/** The state that a call continues and that its provider stores. */
export interface ServerState {
  /** The option that contains the id. */
  readonly by: "conversation" | "previousResponseId";
  readonly id: string;
}

/** The state in the provider options of a call, for any provider name. */
export function serverStateOf(options: ProviderValues | undefined): ServerState | undefined {
  for (const values of Object.values(options ?? {})) {
    for (const by of ["conversation", "previousResponseId"] as const) {
      const id = values?.[by];
      if (typeof id === "string" && id !== "") return { by, id };
    }
  }
  return undefined;
}
