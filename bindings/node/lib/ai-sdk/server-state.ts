import type { ProviderValues } from "./shapes.js";

/** The state that a call continues, which its provider holds. */
export interface ServerState {
  /** The field that names it. */
  readonly by: "conversation" | "previousResponseId";
  readonly id: string;
}

/** The state that a call names in its provider's options, under whatever provider's name. */
export function serverStateOf(options: ProviderValues | undefined): ServerState | undefined {
  for (const said of Object.values(options ?? {})) {
    for (const by of ["conversation", "previousResponseId"] as const) {
      const id = said?.[by];
      if (typeof id === "string" && id !== "") return { by, id };
    }
  }
  return undefined;
}
