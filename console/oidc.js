// Signing in with OpenID Connect: to the provider, and back with a code (RFC 6749, RFC 7636).

const KEPT = "autotune-sign-in";
const LONGEST_SHOWN = 300;

/** The provider sent nobody; the message is what it said, or what this page found wrong. */
export class ProviderError extends Error {}

/** Return where people sign in with OpenID Connect, null where they do not or it cannot be asked. */
export async function provider() {
  const address = new URL("api/v1/sessions/oidc", document.baseURI);
  const told = await fetch(address, { cache: "no-store", credentials: "omit" })
    .then((answer) => (answer.ok ? answer.json() : null))
    .catch(() => null);
  return told?.oidc ?? null;
}

/**
 * Leave for the provider. What the way back is checked with stays in this tab: the provider is
 * given its hash and what it has to repeat.
 */
export async function leaveFor({ issuer, clientId, authorizationEndpoint, redirectUri, scope }) {
  const kept = { issuer, state: random(), nonce: random(), codeVerifier: random() };
  const address = new URL(authorizationEndpoint);
  if (!["https:", "http:"].includes(address.protocol)) throw new ProviderError("its address is none of the web");
  const asked = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state: kept.state,
    nonce: kept.nonce,
    code_challenge: await challengeOf(kept.codeVerifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
  location.assign(address);
}

/**
 * Return what the provider sent this tab back with, as the API takes it; null if it did not.
 *
 * It leaves the address before anything else happens. Throws a ProviderError where the provider
 * refused, or where this tab did not begin it.
 */
export function takeReturn() {
  const sent = new URLSearchParams(location.search);
  if (!sent.has("state") || !(sent.has("code") || sent.has("error"))) return null;
  history.replaceState(null, "", `${location.pathname}#/`);
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  sessionStorage.removeItem(KEPT);
  // What anybody could have put into a link is not shown, and begins nothing (RFC 9700, 4.7).
  if (kept === null || kept.state !== sent.get("state")) {
    throw new ProviderError("This sign-in was not begun in this tab. Begin it again here.");
  }
  if (sent.has("iss") && sent.get("iss") !== kept.issuer) {
    throw new ProviderError("Another provider answered than the one that was asked.");
  }
  if (sent.has("error")) {
    const said = sent.get("error_description") ?? sent.get("error");
    throw new ProviderError(`It said: ${said.slice(0, LONGEST_SHOWN)}`);
  }
  return { code: sent.get("code"), codeVerifier: kept.codeVerifier, nonce: kept.nonce };
}

function random() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

async function challengeOf(verifier) {
  const hashed = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(hashed));
}

function base64url(bytes) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
