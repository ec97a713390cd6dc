// Connections: where language models are asked, with whose key, and whether that works.

import { send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Copy } from "../../components/copy.js";
import { Confirm, Dialog } from "../../components/dialog.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { Facts, FactsToCome, Section } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, duration, nanoDollars, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { link } from "../../router.js";
import { LedgerPage } from "./frame.js";

export function Connections({ query }) {
  const { data, problem, again } = useApi("llm-connections", { limit: 50, nextToken: query.token }, { every: 30 });
  const columns = [
    { name: "name", title: "Name", width: 11 },
    { name: "status", title: "Status", width: 16.5, cell: (connection) => html`<${Badge}>${connection.status}<//> <span class="why">${connection.pausedBecause ?? ""}</span>` },
    { name: "provider", title: "Provider", width: 7.5 },
    { name: "keyEndsWith", title: "Key", width: 5.5, cell: (connection) => (connection.keyEndsWith ? html`<code>…${connection.keyEndsWith}</code>` : "–") },
    { name: "updatedAt", title: "Changed", width: 6.5, cell: (connection) => html`<${Time} at=${connection.updatedAt} relative />` },
    { name: "id", title: "Id", width: 16, cell: (connection) => html`<code>${connection.id}</code>` },
  ];
  return html`
    <${LedgerPage} open="Connections" about="Where language models are asked, and with which key. The keys themselves are never shown.">
      <${Table} label="Connections" problem=${problem} again=${again} columns=${columns} rows=${data?.connections ?? null} href=${({ id }) => link(["ledger", "connections", id])}
        empty=${html`<${Empty} title="No connections" command="autotune llm connect --name judges --provider openai --key-env OPENAI_API_KEY">Make one to ask models of a provider.<//>`} />
      <${Pager} path=${["ledger", "connections"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

export function Connection({ id, mayChange }) {
  const { data, problem, again } = useApi(`llm-connections/${id}`);
  const [asked, setAsked] = useState(null);
  const connection = data?.connection;
  const close = () => setAsked(null);
  const isPaused = connection?.status === "paused";
  const actions = mayChange && connection && connection.status !== "revoked" && html`
    <button type="button" onClick=${() => setAsked("verify")}>Verify</button>
    ${isPaused && html`<button type="button" class="primary" onClick=${() => setAsked("resume")}>Take up again</button>`}`;
  return html`
    <${LedgerPage} open="Connections" title=${connection?.name ?? "Connection"} about=${html`<${Copy} text=${id} />`} actions=${actions || null}>
      <${Trouble} problem=${problem} again=${again} />
      ${isPaused && html`
        <div class="notice">
          <p>The provider refused it: ${connection.pausedBecause}</p>
          <p>What is queued for it waits, and nothing is lost. See to that at the provider, or give it another key; a change takes it up again.</p>
          ${mayChange && html`<${Copy} text=${`autotune llm update-connection ${id} --key-env PROVIDER_KEY`} />`}
        </div>`}
      ${!connection && !problem && html`<${FactsToCome} />`}
      ${connection && html`<${Settings} connection=${connection} /><${Prices} prices=${connection.prices ?? {}} />`}
    <//>
    ${asked === "verify" && html`<${Verify} connection=${connection} onDone=${again} onClose=${close} />`}
    ${asked === "resume" && html`<${Resume} connection=${connection} onDone=${() => { close(); again(); }} onClose=${close} />`}
  `;
}

function Settings({ connection }) {
  const { limits, bedrock } = connection;
  const most = (value) => (value === null || value === undefined ? null : count(value));
  return html`
    <${Facts} facts=${[
      ["Status", html`<${Badge}>${connection.status}<//>`],
      ["Provider", connection.provider],
      ["Address", connection.baseUrl && html`<code>${connection.baseUrl}</code>`],
      ["Key", connection.keyEndsWith && html`<code>…${connection.keyEndsWith}</code>, version ${connection.keyVersion}`],
      ["Region", bedrock?.region],
      ["Role", bedrock && html`<code>${bedrock.roleArn}</code>`],
      ["Calls at a time", count(connection.concurrency)],
      ["Calls a second", connection.requestsPerSecond],
      ["A call takes at most", duration(connection.timeoutSeconds * 1_000)],
      ["Batch jobs", words(connection.batches)],
      ["Requests of a batch", `${count(connection.minRows)} to ${connection.maxRows ? count(connection.maxRows) : "what the provider takes"}`],
      ["A request waits for others at most", duration(connection.maxWaitSeconds * 1_000)],
      ["Most requests in the provider’s queue", most(limits?.enqueuedRows)],
      ["Most open jobs", most(limits?.openJobs)],
      ["Most jobs created in an hour", most(limits?.creationsPerHour)],
      ["Most tokens in the provider’s queue", limits?.enqueuedTokens && Object.entries(limits.enqueuedTokens).map(([model, tokens]) => `${model}: ${count(tokens)}`).join(", ")],
      ["Made", html`<${Time} at=${connection.createdAt} />`],
      ["Changed", html`<${Time} at=${connection.updatedAt} />`],
      ["Made by", connection.createdBy && html`<code>${connection.createdBy}</code>`],
    ]} />
  `;
}

function Prices({ prices }) {
  const rows = Object.entries(prices).map(([id, price]) => ({ id, ...price }));
  if (rows.length === 0) return null;
  const usd = (name) => (price) => (price[name] === null || price[name] === undefined ? "–" : `$${price[name]}`);
  const columns = [
    { name: "id", title: "Model", width: 14 },
    ...[["inputUsd", "Input"], ["cachedInputUsd", "Cached input"], ["outputUsd", "Output"], ["batchInputUsd", "Batch input"], ["batchOutputUsd", "Batch output"]]
      .map(([name, title]) => ({ name, title, width: 8, numeric: true, cell: usd(name) })),
  ];
  return html`
    <${Section} title="Prices of its own, for a million tokens">
      <${Table} label="Prices" columns=${columns} rows=${rows} />
    <//>
  `;
}

function Verify({ connection, onDone, onClose }) {
  const [model, setModel] = useState(Object.keys(connection.prices ?? {})[0] ?? "");
  const [came, setCame] = useState(null);
  const { act, problem, busy } = useAct();
  const verify = async (event) => {
    event.preventDefault();
    if (busy) return;
    const answer = await act(() => send("POST", `llm-connections/${connection.id}/verify`, { model: model.trim() }));
    if (!answer) return;
    setCame(answer);
    onDone();
  };
  return html`
    <${Dialog} title=${`Verify ${connection.name}`} onClose=${onClose}>
      <form class="form" onSubmit=${verify}>
        <${Field} label="Model" name="model" value=${model} onInput=${setModel} problem=${problem} required hint="It is asked for one word, which is paid like any other" />
        <${Trouble} problem=${problem} />
        <div role="status">
          ${busy && html`<p class="hint">Asking; this takes up to 20 seconds.</p>`}
          ${came && !busy && html`
            <${Facts} facts=${[
              ["It", came.works ? html`<${Badge} tone="good">works<//>` : html`<${Badge} tone="trouble">does not work<//>`],
              ["Error", came.errorCode && words(came.errorCode)],
              ["Why", came.detail],
              ["Served by", came.servedModel],
              ["Took", duration(came.milliseconds)],
              ["Cost", came.costNanoUsd === null || came.costNanoUsd === undefined ? null : nanoDollars(came.costNanoUsd)],
            ]} />`}
        </div>
        <div class="dialog-actions">
          <button type="submit" class="primary" disabled=${busy}>${came ? "Ask again" : "Ask"}</button>
          <button type="button" onClick=${onClose}>Close</button>
        </div>
      </form>
    <//>
  `;
}

// Any change takes a paused connection up again: here its name, which stays as it is.
function Resume({ connection, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const resume = async () => {
    if (await act(() => send("PATCH", `llm-connections/${connection.id}`, { name: connection.name }))) onDone();
  };
  return html`
    <${Confirm} title="Take the connection up again?" yes="Take it up" busy=${busy} problem=${problem} onYes=${resume} onClose=${onClose}>
      What is queued for it is asked. Where the provider refuses it for the same reason, it is paused again.
    <//>
  `;
}
