// What a request asked, what was answered, and how that was read.

import { Badge } from "../../components/badge.js";
import { Facts, Section } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { count, words } from "../../format.js";
import { html } from "../../preact.js";

/** What was sent in: a system and a user text with variables, or the messages of a conversation. */
export function Question({ request }) {
  const { input, chatRequest, params, verdict } = request;
  const messages = request.messages ?? chatRequest?.messages;
  const variables = Object.entries(input?.variables ?? {});
  return html`
    <${Section} title="Asked">
      ${!input && !messages && html`<p class="hint">The texts were deleted.</p>`}
      <${Text} label="System" text=${input?.system} />
      <${Text} label="User" text=${input?.user} />
      ${variables.map(([name, value]) => html`<${Text} key=${name} label=${`{{${name}}}`} text=${value} />`)}
      ${messages?.map((message, index) => html`<${Text} key=${index} label=${message.role.replace(/^./, (letter) => letter.toUpperCase())} text=${contentOf(message)} />`)}
      <${Facts} facts=${[
        ["Most tokens", count(params.maxTokens)],
        ["Temperature", params.temperature],
        ["Top p", params.topP],
        ["Seed", params.seed],
        ["Stops at", params.stop?.map((text) => JSON.stringify(text)).join(", ")],
        ["Response format", params.responseFormat && html`<code>${JSON.stringify(params.responseFormat)}</code>`],
        ["Tools", chatRequest?.tools && html`<code>${JSON.stringify(chatRequest.tools)}</code>`],
        ["Further", params.extra && html`<code>${JSON.stringify(params.extra)}</code>`],
        ["Verdict", verdict && formatOf(verdict)],
      ]} />
    <//>
  `;
}

/** What came back, the verdict in it, and each time that it was read. */
export function Answer({ request, parses }) {
  const { rawOutput, modelReasoning, verdict, parsedVerdict, verdictText, parseError, finishReason } = request;
  const read = parses.data?.parses ?? null;
  const columns = [
    { name: "version", title: "Reading", width: 5.5, cell: (parse) => count(parse.version) },
    { name: "parsedAt", title: "Read", width: 12, cell: (parse) => html`<${Time} at=${parse.parsedAt} />` },
    { name: "verdict", title: "Verdict", width: 12, cell: (parse) => (parse.parseError ? html`<${Badge} tone="trouble">${parse.parseError.code}<//>` : shown(parse.parsedVerdict)) },
    { name: "format", title: "Read as", width: 18, cell: (parse) => formatOf(parse.verdict) },
    { name: "parser", title: "Parser", width: 5.5, cell: (parse) => count(parse.parserVersion) },
  ];
  const isFailed = verdict && parseError;
  return html`
    <${Section} title="Answered">
      ${rawOutput === null || rawOutput === undefined ? html`<p class="hint">There is no answer${request.status === "completed" ? " any more" : ""}.</p>` : ""}
      <${Text} label="Answer" text=${rawOutput} />
      <${Text} label="Reasoning of the model" text=${modelReasoning} />
      <${Facts} facts=${[
        ["Verdict", verdict && rawOutput && (isFailed ? html`<${Badge} tone="trouble">${parseError.code}<//>` : html`<b>${shown(parsedVerdict)}</b>`)],
        ["It could not be read because", isFailed ? parseError.message : null],
        ["In the words of the answer", verdictText],
        ["Ended by", finishReason && words(finishReason)],
      ]} />
      ${read?.length > 0 && html`<${Table} label="Readings of the answer" columns=${columns} rows=${read} id=${(parse) => parse.version} />`}
    <//>
  `;
}

function Text({ label, text }) {
  if (text === null || text === undefined) return null;
  return html`
    <div class="text">
      <p class="text-head">${label}</p>
      <pre class="body" tabindex="0" aria-label=${label}>${text}</pre>
    </div>
  `;
}

function contentOf({ content, tool_calls: calls }) {
  const said = typeof content === "string" ? content : (content ?? []).map(({ text, refusal }) => text ?? refusal).join("\n");
  return [said, ...(calls ?? []).map((call) => JSON.stringify(call))].filter(Boolean).join("\n");
}

function shown(verdict) {
  if (verdict === null || verdict === undefined) return "–";
  return typeof verdict === "string" ? verdict : JSON.stringify(verdict);
}

function formatOf({ type, labels, minimum, maximum }) {
  if (labels) return `${type}: ${labels.join(", ")}`;
  const known = (value) => value !== null && value !== undefined;
  return known(minimum) || known(maximum) ? `${type} from ${minimum ?? "–∞"} to ${maximum ?? "∞"}` : type;
}
