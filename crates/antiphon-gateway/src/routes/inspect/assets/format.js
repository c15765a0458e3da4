// Texts of values.

const TIME = new Intl.DateTimeFormat(undefined, {
  year: "numeric", month: "short", day: "numeric",
  hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});
const NUMBER = new Intl.NumberFormat("en");

export const count = (number) => NUMBER.format(number);

export const time = (seconds) => (seconds === null ? "never" : TIME.format(new Date(seconds * 1000)));

export function bytes(number) {
  if (number < 1000) return `${number} B`;
  return number < 1e6 ? `${(number / 1e3).toFixed(1)} kB` : `${(number / 1e6).toFixed(1)} MB`;
}

export function cost(amount) {
  if (!amount) return null;
  const digits = amount.amount < 0.01 ? 6 : 4;
  return `${amount.amount.toFixed(digits)} ${amount.currency ?? ""}`.trim();
}

export function tokens(value) {
  if (!value || value.input + value.output === 0) return null;
  const cached = value.cached ? ` (${count(value.cached)} cached)` : "";
  return `${count(value.input)}${cached} in, ${count(value.output)} out`;
}

export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** Names in words: `stored_before` becomes `stored before`. */
export const words = (name) => name.replaceAll("_", " ");

/** Control characters as symbols, so that no terminal code and no direction mark has an effect. */
export function inert(text) {
  const shown = text.replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));
  return shown.replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (c) =>
    `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** JSON with line breaks; the text itself if it is no JSON. */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
