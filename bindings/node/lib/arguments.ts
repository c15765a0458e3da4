/** Throws if options are not an object, or one of them has an unknown name. */
export function refuseOtherOptions(given: unknown, known: readonly string[]): void {
  if (!isObject(given)) {
    throw ofOptions(refused("options", `must be an object such as { ${known.join(", ")} }`, given));
  }
  const isOther = ([name, value]: [string, unknown]): boolean =>
    value !== undefined && !known.includes(name);
  const other = Object.entries(given).find(isOther)?.[0];
  if (other === undefined) return;
  const message = `${other}: unknown option; the options are: ${known.join(", ")}.`;
  throw ofOptions(new TypeError(message));
}

/** Throws if an argument is given and is not a function. */
export function refuseOtherThanFunction(given: unknown, argument: string): void {
  if (given === undefined || typeof given === "function") return;
  throw refused(argument, "must be a function", given);
}

/** Throws if an argument is not an object. */
export function refuseOtherThanObject(
  given: unknown,
  argument: string,
  need = "must be an object",
): void {
  if (!isObject(given)) throw refused(argument, need, given);
}

/** Throws if an argument is not a number that `source` returns. */
export function refuseOtherThanNumber(given: unknown, argument: string, source: string): void {
  if (Number.isSafeInteger(given) && (given as number) >= 0) return;
  throw refused(argument, `must be a number from \`${source}\``, given);
}

/** The error for an argument that does not meet a need. */
export function refused(argument: string, need: string, given: unknown): TypeError {
  return new TypeError(`${argument}: ${need}, not ${nameOf(given)}.`);
}

/** The name of a value's type, for an error message. */
export function nameOf(value: unknown): string {
  switch (typeof value) {
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "an array" : "an object";
    case "number":
      return String(value);
    case "string":
      return value === "" ? "the empty string" : "a string";
    case "undefined":
      return "undefined";
    default:
      return `a ${typeof value}`;
  }
}

/** Adds the `code` of all errors about options. */
function ofOptions(error: TypeError): TypeError {
  return Object.assign(error, { code: "options" });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
