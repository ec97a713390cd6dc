// Calls of the API with the token that stands in the page's address, after the #.

import { sentence } from "./texts.js";

const SESSION_KEY = "reviewer-session";
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

/** The service answered, and refused; `code` is the stable word for why. */
export class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** The service did not answer, or cannot at the moment: the same call may succeed soon. */
export class Unreachable extends Error {}

/** The token of the link that opened the page; empty without one. */
export const token = location.hash.slice(1);

/** Do one call below api/v1; return what the answer holds. */
export async function call(method, path, body) {
  let answer;
  try {
    // Relative to the page, which may lie below a prefix.
    answer = await fetch(new URL(`api/v1/${path}`, document.baseURI), {
      method,
      cache: "no-store",
      credentials: "omit",
      headers: {
        "Authorization": `Bearer ${token}`,
        "X-Autotune-Session": session(),
        "X-Autotune-Request-Id": `req_${random()}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    throw new Unreachable("the service cannot be reached", { cause: error });
  }
  const told = await answer.json().catch(() => null);
  if (answer.ok && told !== null) return told;
  if (answer.ok || answer.status >= 500 || answer.status === 429) {
    throw new Unreachable("the service cannot answer at the moment");
  }
  throw new Problem(answer.status, told?.code ?? "unknown", told?.detail ?? "");
}

/** Do something until the service answers; give up after a minute, with what was entered kept. */
export async function persist(attempt, tell) {
  for (const pause of [...PAUSES_MS, null]) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Unreachable) || pause === null) throw error;
      tell(sentence(error));
      await new Promise((resume) => setTimeout(resume, pause));
    }
  }
}

// Tells this browser's tab from others that opened the same link; it outlives a reload.
function session() {
  let known = sessionStorage.getItem(SESSION_KEY);
  if (known === null) {
    known = random();
    sessionStorage.setItem(SESSION_KEY, known);
  }
  return known;
}

function random() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
