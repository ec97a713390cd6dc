// Signatures of requests to the API, as docs/protocol.md has them, with a key that cannot be read.

const SCHEME = "autotune-api-v1";
const utf8 = new TextEncoder();

/** Make a secret a key that signs and that no script can read again. */
export function signingKey(secret) {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", utf8.encode(secret), algorithm, false, ["sign"]);
}

/**
 * Return the four headers of a signed request.
 *
 * `path` is below the API's base URL, `query` without "?", `body` its bytes, `timestamp` Unix seconds.
 */
export async function signRequest({ key, keyId, method, path, query, body, timestamp, requestId }) {
  const signed = [
    SCHEME,
    keyId,
    method.toUpperCase(),
    canonicalPath(path),
    canonicalQuery(query),
    hex(await crypto.subtle.digest("SHA-256", body)),
    String(timestamp),
    requestId,
  ].join("\n");
  const signature = await crypto.subtle.sign("HMAC", key, utf8.encode(signed));
  return {
    "x-autotune-key": keyId,
    "x-autotune-signature": `v1=${hex(signature)}`,
    "x-autotune-timestamp": String(timestamp),
    "x-autotune-request-id": requestId,
  };
}

/** Return an id for one attempt, which no other has. */
export function newRequestId() {
  return `req_${hex(crypto.getRandomValues(new Uint8Array(16)))}`;
}

function canonicalPath(path) {
  return encoded(decodeURIComponent(path)).replaceAll("%2F", "/");
}

function canonicalQuery(query) {
  return [...new URLSearchParams(query)]
    .sort(([a, x], [b, y]) => byCodePoint(a, b) || byCodePoint(x, y))
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join("&");
}

// encodeURIComponent leaves five characters alone that the canonical form encodes.
function encoded(text) {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

// Python sorts by code points, where JavaScript compares halves of those above U+FFFF.
function byCodePoint(a, b) {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let place = 0; place < Math.min(left.length, right.length); place += 1) {
    const difference = left[place].codePointAt(0) - right[place].codePointAt(0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function hex(raw) {
  return Array.from(new Uint8Array(raw), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
