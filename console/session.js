// Who is signed in: a session of some hours, whose key this browser can sign with but cannot show.

import { takeReturn } from "./oidc.js";
import { newRequestId, signingKey, signRequest } from "./signing.js";

const DATABASE = "autotune-console";
const STORE = "sessions";
const CURRENT = "current";
const CODE = "#code=";

let signedIn = null;

/**
 * A code opened nothing; `problem` is what the API said, null if it did not. `where` is what was
 * asked: "exchange" for a code of the console's own, "oidc" for one of an OpenID provider.
 */
export class SignInError extends Error {
  constructor(message, { where = null, problem = null, cause } = {}) {
    super(message, { cause });
    this.where = where;
    this.problem = problem;
  }
}

/**
 * Exchange the code in the address if there is one, the console's own or an OpenID provider's, else
 * take up the session that is kept here. Return the session, null if there is none that lasts.
 * Throw a SignInError if a code opens nothing, a ProviderError if a provider sent none.
 *
 * A link may be somebody else's, who would see what is entered in their session: where another
 * principal is signed in here, `mayReplace(before, made)` says whether the made session takes over.
 */
export async function signIn(mayReplace = async () => true) {
  const code = takeCode();
  const returned = code === null ? takeReturn() : null;
  const before = await kept();
  if (code === null && returned === null) {
    signedIn = before;
    return current();
  }
  signedIn = await (code === null ? exchanged("oidc", returned) : exchanged("exchange", { code }));
  if (before !== null && !isOfSame(before, signedIn) && !(await mayReplace(before.session, signedIn.session))) {
    await end();
    signedIn = before;
  } else {
    await inStore("readwrite", (store) => store.put(signedIn, CURRENT));
  }
  return current();
}

/** Return the session that is signed in, null if there is none or its time is over. */
export function current() {
  if (signedIn === null || Date.parse(signedIn.session.expiresAt) <= now()) return null;
  return signedIn.session;
}

/** Whether the address has a code, as that of a link has. */
export const hasCode = () => location.hash.startsWith(CODE);

/** Return the headers that sign a request; each attempt needs its own. */
export async function signedHeaders(method, path, query = "", body = new Uint8Array()) {
  if (signedIn === null) throw new SignInError("nobody is signed in");
  return signRequest({
    key: signedIn.key,
    keyId: signedIn.session.id,
    method,
    path,
    query,
    body,
    timestamp: Math.floor(now() / 1000),
    requestId: newRequestId(),
  });
}

/** End the session, here at once and at the service if it can be reached. */
export async function signOut() {
  if (signedIn === null) return;
  const ended = end();
  await forget();
  await ended;
}

/** Forget the session here, as one that the service no longer accepts. */
export async function forget() {
  try {
    await discard(signedIn?.session.id);
  } finally {
    signedIn = null; // last: what the page asks meanwhile is refused by the service, and told as such
  }
}

// The code leaves the address before anything else happens: history and copies do not have it.
function takeCode() {
  if (!hasCode()) return null;
  const code = location.hash.slice(CODE.length);
  history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  try {
    return decodeURIComponent(code);
  } catch {
    return code; // cut off within what some program encoded
  }
}

function isOfSame(one, other) {
  const who = ({ session }) => `${session.organizationId} ${session.principalId}`;
  return who(one) === who(other);
}

async function end() {
  const path = "/api/v1/sessions/me";
  const headers = await signedHeaders("DELETE", path);
  await send("DELETE", path, { headers }).catch(() => null);
}

// Another tab may have signed in since: its session stays.
async function discard(id) {
  await inStore("readwrite", (store) => {
    const found = store.get(CURRENT);
    found.addEventListener("success", () => {
      if (found.result?.session.id === id) store.delete(CURRENT);
    });
    return found;
  });
}

async function exchanged(where, body) {
  let answer;
  try {
    answer = await send("POST", `/api/v1/sessions/${where}`, {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch (error) {
    throw new SignInError("the service cannot be reached", { where, cause: error });
  }
  const told = await answer.json().catch(() => null);
  if (!answer.ok || told === null) {
    const said = told?.detail ?? "the service cannot answer at the moment";
    throw new SignInError(said, { where, problem: told });
  }
  return { session: told.session, key: await signingKey(told.secret), ahead: ahead(answer) };
}

async function kept() {
  const found = await inStore("readonly", (store) => store.get(CURRENT));
  if (found === undefined) return null;
  if (Date.parse(found.session.expiresAt) > Date.now() + found.ahead) return found;
  await discard(found.session.id);
  return null;
}

// Signatures are accepted for five minutes: a clock here that is wrong by more would sign in vain.
function ahead(answer) {
  const there = Date.parse(answer.headers.get("date") ?? "");
  return Number.isNaN(there) ? 0 : there - Date.now();
}

function now() {
  return Date.now() + (signedIn?.ahead ?? 0);
}

function send(method, path, options) {
  // Relative to the page, which may lie below a prefix.
  const address = new URL(path.slice(1), document.baseURI);
  return fetch(address, { method, cache: "no-store", credentials: "omit", ...options });
}

async function inStore(mode, act) {
  const database = await answered(opened());
  try {
    return await answered(act(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function opened() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return request;
}

function answered(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
