// Windows of time, as pages with figures over time have them.

/** `[value, text]` of those that every such page has. */
export const WINDOWS = [["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"]];

/** What a stretch of so many seconds is called. */
export const PER = { 300: "5 minutes", 3_600: "hour", 86_400: "day" };

/** "Last 24 hours" */
export function windowName(window, options = WINDOWS) {
  const text = options.find(([key]) => key === window)?.[1] ?? window;
  return `Last ${text.replace(/^1 /, "")}`;
}

/** How many verdicts there are, of every state. */
export function decidedOf({ counts }) {
  return counts.scored + counts.abstained + counts.failed + counts.canceled;
}
