// Signs each request of a list of JSON on stdin with the console's code; prints the headers as JSON.

import { text } from "node:stream/consumers";

const { newRequestId, signingKey, signRequest } = await import(process.argv[2]);
const signed = [];
for (const one of JSON.parse(await text(process.stdin))) {
  const key = await signingKey(one.secret);
  if (key.extractable) throw new Error("the key can be read again");
  const body = new TextEncoder().encode(one.body);
  signed.push(await signRequest({ requestId: newRequestId(), ...one, key, body }));
}
console.log(JSON.stringify(signed));
