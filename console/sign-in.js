// What is shown to who is not signed in, or would be signed in as somebody else.

import { Copy } from "./components/copy.js";
import { words } from "./format.js";
import { leaveFor, provider } from "./oidc.js";
import { html, useEffect, useState } from "./preact.js";

const COMMAND = "autotune console";
const REASONS = {
  none: ["Sign in", "The console opens with a session of your API key. Your key itself stays where it is."],
  refused: ["This link does not work", "It was used already, it is older than five minutes, or it was cut off."],
  ended: ["Your session has ended", "It ran out, or it or the key that made it was revoked."],
  left: ["You are signed out", "The session was revoked: nobody can use it any more."],
  provider: ["The sign-in did not succeed", "Your identity provider was asked, and nobody is signed in here."],
  unreachable: ["The service cannot be reached", "Your network or the service is down. Try it again in a moment."],
};

/** Says why nobody is signed in, and how to: the command that opens a session, or the provider. */
export function SignIn({ reason, told }) {
  const [title, text] = REASONS[reason];
  const [oidc, setOidc] = useState(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    provider().then(setOidc);
  }, []);
  const leave = () => {
    setBusy(true);
    leaveFor(oidc).catch(() => setBusy(false));
  };
  return html`
    <main class="sign-in">
      <h1>${title}</h1>
      <p>${text}</p>
      ${reason === "provider" && html`<p role="alert">${told}</p>`}
      <p>Run this where your profile is. It opens this page, signed in:</p>
      <${Copy} text=${COMMAND} />
      ${oidc && html`
        <p>Or with your account:</p>
        <button type="button" class="primary" disabled=${busy} onClick=${leave}>Sign in with ${new URL(oidc.issuer).host}</button>`}
    </main>
  `;
}

/** Asks whether a link signs in somebody else than who is signed in; `onAnswer` gets true if so. */
export function Replace({ before, made, onAnswer }) {
  return html`
    <main class="sign-in">
      <h1>Sign in as somebody else?</h1>
      <p>This link signs you in as <${Who} session=${made} />.</p>
      <p>You are signed in as <${Who} session=${before} />.</p>
      <p>If you did not run <code>autotune console</code> yourself, stay: what you enter would be seen by who made the link.</p>
      <div class="dialog-actions">
        <button type="button" class="primary" onClick=${() => onAnswer(false)}>Stay signed in</button>
        <button type="button" onClick=${() => onAnswer(true)}>Sign in as the other</button>
      </div>
    </main>
  `;
}

function Who({ session }) {
  return html`<b>${session.principalId}</b>, ${words(session.role)}, of <code>${session.organizationId}</code>`;
}
