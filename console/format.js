// Figures and times as people read them.

const NOTHING = "–";
const JUST_NOW_MS = 10_000;
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const signed = new Intl.NumberFormat("en", { minimumFractionDigits: 3, maximumFractionDigits: 3, signDisplay: "exceptZero" });
const signedWhole = new Intl.NumberFormat("en", { maximumFractionDigits: 0, signDisplay: "exceptZero" });
const share = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
const money = new Intl.NumberFormat("en", { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: 6 });
const finest = new Intl.NumberFormat("en", { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: 9 });
const coarse = new Intl.NumberFormat("en", { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: 4 });
const CENT_NANO = 10_000_000;
const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const localMinute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

const shown = (value, show) => (value === null || value === undefined ? NOTHING : show(value));

/** 12,345 */
export const count = (value) => shown(value, (it) => whole.format(it));
/** once, 12 times */
export const times = (value) => (value === 1 ? "once" : `${count(value)} times`);
/** 0.812 */
export const score = (value) => shown(value, (it) => fine.format(it));
/** +0.125 or -0.125, of two scores */
export const difference = (value) => shown(value, (it) => signed.format(it));
/** +2, 0 or -3, of a rubric's levels */
export const level = (value) => shown(value, (it) => signedWhole.format(it));
/** 4.5% of a share from 0 to 1 */
export const percent = (value) => shown(value, (it) => share.format(it));
/** $0.0021 */
export const dollars = (value) => shown(value, (it) => money.format(it));
/** $0.00000125 of billionths of a dollar: below a cent to the last of them, else to four places. */
export const nanoDollars = (value) => shown(value, (it) => (Math.abs(it) < CENT_NANO ? finest : coarse).format(it / 1e9));
/** 12.3 MB */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return NOTHING;
  for (const [unit, bound] of [["B", 1e3], ["kB", 1e6], ["MB", 1e9]]) {
    if (bytes < bound) return `${unit === "B" ? bytes : (bytes / (bound / 1e3)).toFixed(1)} ${unit}`;
  }
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
/** In the reader's zone. */
export const time = (value) => shown(value, (it) => local.format(new Date(it)));
/** The same without seconds. */
export const minute = (value) => shown(value, (it) => localMinute.format(new Date(it)));
/** scored_late as "scored late" */
export const words = (value) => shown(value, (it) => String(it).replaceAll("_", " "));

/** 850 ms, 4.2 s, 3 min, 5 h, 2 d */
export function duration(ms) {
  if (ms === null || ms === undefined) return NOTHING;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  for (const [unit, size, most] of [["min", 60_000, 120], ["h", 3_600_000, 48]]) {
    if (ms < size * most) return `${Math.round(ms / size)} ${unit}`;
  }
  return `${Math.round(ms / 86_400_000)} d`;
}

/** How long ago, or in how long: "just now", "3 min ago", "in 2 h". */
export function ago(value, now = Date.now()) {
  if (value === null || value === undefined) return NOTHING;
  const passed = now - new Date(value).getTime();
  if (Math.abs(passed) < JUST_NOW_MS) return passed >= 0 ? "just now" : "now";
  return passed >= 0 ? `${duration(passed)} ago` : `in ${duration(-passed)}`;
}
