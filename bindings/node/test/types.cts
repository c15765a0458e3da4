// The types for `require`.

import antiphon = require("antiphon");

const repaired: antiphon.Repaired<{ role: string }> = antiphon.repair([{ role: "user" }]);
export const mends: antiphon.Mend[] = repaired.mends;
export const fetch: typeof globalThis.fetch = antiphon.statefulFetch();
