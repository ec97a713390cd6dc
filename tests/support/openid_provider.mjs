// A certified OpenID provider on loopback (panva's oidc-provider), with the console as a client that
// has no secret, and with people who are called what they enter.
//
// Arguments: a port, the client's id, where it sends browsers back to, and the roles of each
// person as JSON: {"anna": ["admin"]}.

import Provider from "oidc-provider";

const [port, clientId, redirectUri, roles] = process.argv.slice(2);
const rolesOf = JSON.parse(roles);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: clientId,
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], roles: ["roles"] },
  // Claims of scopes in the ID token, too.
  conformIdTokenClaims: false,
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      email: `${id}@example.com`,
      email_verified: true,
      roles: rolesOf[id] ?? [],
    }),
  }),
  pkce: { required: () => true },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
