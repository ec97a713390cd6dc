// Calls of the API, signed by the session, and what pages make of the answers.

import { useCallback, useEffect, useRef, useState } from "./preact.js";
import { signedHeaders } from "./session.js";

const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
const SENDS = 3;
const NOWHERE = { title: "There is no such thing", detail: "The address of this page may be mistyped.", code: "not_found" };
/** The event of `window` that says that the service accepts the session no longer. */
export const SESSION_ENDED = "session-ended";

/** The service answered, and refused: the fields of its problem+json (RFC 9457). */
export class Problem extends Error {
  constructor(status, told, requestId) {
    super(told.detail ?? told.title ?? `The service answered ${status}.`);
    this.status = status;
    this.code = told.code ?? "unknown";
    this.title = told.title ?? "The service refused";
    this.detail = told.detail ?? "";
    this.errors = told.errors ?? [];
    this.limit = told.limit ?? null;
    this.retryAfterSeconds = told.retryAfterSeconds ?? null;
    this.requestId = told.requestId ?? requestId;
  }

  /** Whether the same request may succeed soon. */
  get passes() {
    return this.status === 429 || this.status >= 500;
  }
}

/** The service did not answer; the same call may succeed soon. */
export class Unreachable extends Problem {
  constructor(cause) {
    const detail = "Your network or the service is down. What you entered is kept.";
    super(0, { title: "The service cannot be reached", detail, code: "unreachable" }, null);
    this.cause = cause;
  }

  get passes() {
    return true;
  }
}

/**
 * Do one call below `/api/v1/`; return what the answer holds, or null where it holds nothing.
 *
 * `query` is an object: empty values are left out, lists are repeated. Throws a `Problem`.
 */
export async function call(method, path, { query, body, idempotencyKey, signal } = {}) {
  if (!isAddress(path)) throw new Problem(404, NOWHERE, null);
  const text = queryText(query);
  const bytes = new TextEncoder().encode(body === undefined ? "" : JSON.stringify(body));
  const signed = await signedHeaders(method, `/api/v1/${path}`, text, bytes);
  let answer;
  try {
    // Relative to the page, which may lie below a prefix.
    answer = await fetch(new URL(`api/v1/${path}${text && `?${text}`}`, document.baseURI), {
      method,
      signal,
      cache: "no-store",
      credentials: "omit",
      headers: {
        ...signed,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
      },
      body: body === undefined ? undefined : bytes,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Unreachable(error);
  }
  const told = await answer.json().catch(() => null);
  if (answer.ok && (told !== null || answer.status === 204)) return told;
  if (answer.ok) throw new Unreachable(new Error("the answer was cut off"));
  // Others of this status say that a clock is wrong, or that a request came twice.
  if (answer.status === 401 && told?.code === "unauthenticated") dispatchEvent(new Event(SESSION_ENDED));
  throw new Problem(answer.status, told ?? {}, answer.headers.get("X-Autotune-Request-Id"));
}

/**
 * Change something: `send("POST", "keys", body)`; return what the answer holds.
 *
 * With an idempotency key it is sent again when no answer came. Throws a `Problem`.
 */
export async function send(method, path, body, { idempotencyKey, query } = {}) {
  for (let sent = 1; ; sent += 1) {
    try {
      return await call(method, path, { body, idempotencyKey, query });
    } catch (error) {
      const again = idempotencyKey !== undefined && error instanceof Unreachable;
      if (!again || sent >= SENDS) throw error;
      await pause(PAUSES_MS[sent - 1]);
    }
  }
}

/**
 * Load something, in a component: `useApi("tasks", { order: "newest" }, { every: 10 })`.
 *
 * `path` null loads nothing. Old data stays while new data of the same path loads. With `every`, it
 * is asked again after so many seconds while the tab is visible; `every(data)`, a function that
 * stays the same, may return undefined for data that does not change any more. `whole` names a list of
 * which all pages are wanted, one after the other. What passes is asked again by itself. Returns `{ data, problem, loading, again }`.
 */
export function useApi(path, query, { every, whole } = {}) {
  const key = path === null ? null : `${path}?${queryText(query)}`;
  const [state, setState] = useState({ path, data: null, problem: null, loading: key !== null });
  const reload = useRef(() => {});

  useEffect(() => {
    if (key === null) {
      setState({ path, data: null, problem: null, loading: false });
      return undefined;
    }
    const gone = new AbortController();
    let timer;
    let failures = 0;
    let isAsking = false;
    let isStale = false;
    let pauseSeconds = typeof every === "function" ? undefined : every;
    const wait = (ms) => {
      clearTimeout(timer);
      if (ms !== undefined) timer = setTimeout(load, ms);
    };
    const load = async () => {
      isStale = isAsking; // what is asked now may be older than what somebody just changed
      if (isAsking || (document.hidden && pauseSeconds !== undefined)) return;
      isAsking = true;
      setState((old) => ({ ...old, path, data: old.path === path ? old.data : null, loading: true }));
      try {
        const data = await read(path, query, { whole, signal: gone.signal });
        failures = 0;
        setState({ path, data, problem: null, loading: false });
        if (typeof every === "function") pauseSeconds = every(data);
        wait(pauseSeconds && pauseSeconds * 1_000);
      } catch (problem) {
        if (gone.signal.aborted) return;
        if (!(problem instanceof Problem)) throw problem;
        setState((old) => ({ ...old, problem, loading: false }));
        const told = problem.retryAfterSeconds;
        const usual = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)];
        failures += 1;
        wait(problem.passes ? Math.max(usual, (told ?? 0) * 1_000) : undefined);
      } finally {
        isAsking = false;
        if (isStale && !gone.signal.aborted) load();
      }
    };
    const seen = () => {
      if (!document.hidden && pauseSeconds !== undefined) load();
    };
    reload.current = load;
    document.addEventListener("visibilitychange", seen);
    load();
    return () => {
      gone.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [key, every, whole]);

  const again = useCallback(() => reload.current(), []);
  // What another path answered is never shown as this one's.
  const isOwn = state.path === path;
  return { ...state, data: isOwn ? state.data : null, problem: isOwn ? state.problem : null, again };
}

async function read(path, query, { whole, signal }) {
  const data = await call("GET", path, { query, signal });
  let { nextToken } = data;
  while (whole && nextToken) {
    const more = await call("GET", path, { query: { ...query, nextToken }, signal });
    data[whole].push(...more[whole]);
    nextToken = more.nextToken;
  }
  return data;
}

/**
 * Change something from a form or button: `const { act, problem, busy } = useAct()`, and
 * `act(() => send(…))` returns what it returned, or undefined once `problem` says why not.
 */
export function useAct() {
  const [state, setState] = useState({ problem: null, busy: false });
  const act = async (change) => {
    setState({ problem: null, busy: true });
    try {
      const done = await change();
      setState({ problem: null, busy: false });
      return done;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      setState({ problem, busy: false });
      return undefined;
    }
  };
  return { ...state, act };
}

/** A key for one change, however often it is sent. */
export function newIdempotencyKey() {
  return crypto.randomUUID();
}

// Ids come from the page's address, which anybody may have made. What a browser would read as another
// path than the one that is signed is refused as if the session were not valid, and would end it here.
function isAddress(path) {
  const isRead = (part) => part !== "" && part !== "." && part !== ".." && !part.includes("/");
  try {
    return !/[?#\\\s\p{Cc}]/u.test(path) && path.split("/").every((part) => isRead(decodeURIComponent(part)));
  } catch {
    return false; // a % that encodes nothing
  }
}

function queryText(query) {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null && one !== "") text.append(name, one);
    }
  }
  // Spaces as the signature has them.
  return text.toString().replaceAll("+", "%20");
}

function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
