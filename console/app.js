// The console: who is signed in, and the page that they look at.

import { SESSION_ENDED } from "./api.js";
import { ProviderError } from "./oidc.js";
import { html, render, useEffect, useState } from "./preact.js";
import { forget, hasCode, signIn, signOut } from "./session.js";
import { Shell } from "./shell.js";
import { Replace, SignIn } from "./sign-in.js";

function App() {
  const [me, setMe] = useState(undefined);
  const [reason, setReason] = useState("none");
  const [asked, setAsked] = useState(null);
  const [told, setTold] = useState("");
  useEffect(() => {
    const mayReplace = (before, made) => new Promise((resolve) => {
      setAsked({ before, made, onAnswer: (is) => { setAsked(null); resolve(is); } });
    });
    signIn(mayReplace).then(setMe, (error) => {
      setReason(reasonOf(error));
      setTold(error.message);
      setMe(null);
    });
    const ended = async () => {
      await forget(); // first: who reads that it has ended, and loads the page again, is to find none
      setReason("ended");
      setMe(null);
    };
    // A link that is opened in this tab changes nothing but the fragment.
    const moved = () => hasCode() && location.reload();
    addEventListener(SESSION_ENDED, ended);
    addEventListener("hashchange", moved);
    return () => {
      removeEventListener(SESSION_ENDED, ended);
      removeEventListener("hashchange", moved);
    };
  }, []);

  const leave = async () => {
    await signOut();
    setReason("left");
    setMe(null);
  };
  if (asked !== null) return html`<${Replace} ...${asked} />`;
  if (me === undefined) return html`<p class="visually-hidden" role="status">Opening the console</p>`;
  if (me === null) return html`<${SignIn} reason=${reason} told=${told} />`;
  return html`<${Shell} me=${me} onLeave=${leave} />`;
}

function reasonOf(error) {
  if (error instanceof ProviderError) return "provider";
  const { where, problem } = error;
  const passes = !problem || problem.status >= 500 || problem.status === 429;
  if (where === "oidc" && problem) return "provider";
  return passes ? "unreachable" : "refused";
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
