/** Fails where options are no object, or one of them is called as none is. */
export function refuseOtherOptions(given: unknown, known: readonly string[]): void {
  if (!isObject(given)) {
    throw ofOptions(refused("options", `an object such as { ${known.join(", ")} } is needed`, given));
  }
  const isOther = ([name, value]: [string, unknown]): boolean =>
    value !== undefined && !known.includes(name);
  const other = Object.entries(given).find(isOther)?.[0];
  if (other === undefined) return;
  const message = `${other}: no option is called so; there are: ${known.join(", ")}.`;
  throw ofOptions(new TypeError(message));
}

/** Fails where there is an argument, and it is no function. */
export function refuseOtherThanFunction(given: unknown, argument: string): void {
  if (given === undefined || typeof given === "function") return;
  throw refused(argument, "a function is needed", given);
}

/** Fails where an argument is no object. */
export function refuseOtherThanObject(given: unknown, argument: string): void {
  if (!isObject(given)) throw refused(argument, "an object is needed", given);
}

/** Fails where an argument is no number that `source` gives. */
export function refuseOtherThanNumber(given: unknown, argument: string, source: string): void {
  if (Number.isSafeInteger(given) && (given as number) >= 0) return;
  throw refused(argument, `a number that \`${source}\` gave is needed`, given);
}

/** That an argument is not what is needed. */
export function refused(argument: string, need: string, given: unknown): TypeError {
  return new TypeError(`${argument}: ${need}, not ${nameOf(given)}.`);
}

/** What a value is, as a sentence names it. */
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

/** With the `code` that all errors of options have. */
function ofOptions(error: TypeError): TypeError {
  return Object.assign(error, { code: "options" });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
