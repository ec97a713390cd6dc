// Versions of a task's small model: where each is served, and how its evidence stands.

import { useApi } from "../../api.js";
import { Empty } from "../../components/empty.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";
import { TaskPage } from "./frame.js";
import { evidenceOf, stageOf } from "./standing.js";
import { Version } from "./version.js";

const HOSTED = { inference_component: "SageMaker, as an inference component" };
const BACKENDS = { vllm: "vLLM", ollama: "Ollama", llama_cpp: "llama.cpp", linear: "a function of this stack" };

/** The versions of a task, or with an `id` one of them. */
export function Served({ name, id, query }) {
  return id ? html`<${Version} key=${id} name=${name} id=${id} />` : html`<${List} name=${name} query=${query} />`;
}

function List({ name, query }) {
  const of = `apprentice/tasks/${encodeURIComponent(name)}`;
  const task = useApi(of);
  const status = useApi(`${of}/status`);
  const { data, problem, again } = useApi(`${of}/versions`, { limit: 20, nextToken: query.token });
  const isThere = task.data && status.data;
  const unknown = task.problem ?? status.problem;
  const standings = new Map(status.data?.status.versions.map((one) => [one.number, one]));
  const rows = isThere && data ? data.versions.map((one) => ({ ...one, standing: standings.get(one.number) })) : null;
  const columns = [
    { name: "number", title: "Version", width: 5.5, cell: ({ number }) => count(number) },
    { name: "stage", title: "Stage", width: 6.5, cell: stageOf },
    { name: "evidence", title: "Evidence", width: 18, cell: evidenceOf },
    { name: "model", title: "Model", width: 10.5, cell: ({ model, digest }) => html`<code title=${digest}>${model}</code>` },
    { name: "served", title: "Served by", width: 15.5, cell: (one) => servedBy(one, task.data.task.configuration.local) },
    { name: "createdAt", title: "Made", width: 7, cell: ({ createdAt }) => html`<${Time} at=${createdAt} relative />` },
  ];
  return html`
    <${TaskPage} name=${name} open="Versions" about="What is served in place of the paid model. Each version shows by itself that it agrees often enough, before it answers anybody.">
      <${Trouble} problem=${unknown} again=${task.problem ? task.again : status.again} />
      <${Table} label="Versions of the small model" problem=${problem} again=${again} columns=${columns} rows=${unknown ? [] : rows} id=${({ number }) => number} skeletons=${1}
        href=${({ number }) => link(["apprentice", name, "versions", String(number)])}
        empty=${!unknown && html`
          <${Empty} title="No versions" command=${`autotune apprentice versions register ${name} MODEL`}>
            A model that the task's server has already becomes a version once it is registered; one that a training makes is a version by itself.
          <//>`} />
      <${Pager} path=${["apprentice", name, "versions"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

function servedBy({ backend, isOfPresentDefinition, state }, local) {
  const where = HOSTED[local.hosting] ?? local.url;
  const what = BACKENDS[backend] ?? "SageMaker";
  // The configuration says where the present ones are.
  if (state === "retired" || !isOfPresentDefinition || local.backend !== backend || where === null) return what;
  return backend === "sagemaker" ? where : html`${what} at <code>${where}</code>`;
}
