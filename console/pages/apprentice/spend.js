// What a task costs: its budget, by day, and what the small model saved.

import { Bars } from "../../components/bars.js";
import { Facts, Section } from "../../components/page.js";
import { count, duration, nanoDollars } from "../../format.js";
import { html } from "../../preact.js";
import { Used } from "../ledger/budget.js";

const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;
const LABELS = { day: "Today", week: "This week", month: "This month" };

export function Spend({ report }) {
  const { status, totals, savings } = report;
  const range = savings.lowNanoUsd === null ? "" : `, with 95 % from ${nanoDollars(savings.lowNanoUsd)} to ${nanoDollars(savings.highNanoUsd)}`;
  return html`
    <${Section} title="Spend">
      <div class="meters">
        ${status.spend.periods.map((use) => html`<${Used} key=${use.period} label=${LABELS[use.period]} use=${use} />`)}
        ${status.trainingSpend && html`<${Used} key="training" label="Training, this month" use=${status.trainingSpend} />`}
      </div>
    <//>
    <${Section} title="Spend by day">
      <${Bars} label="Spend by day" bins=${binsOf(report)} show=${nanoDollars} head="Spend" />
      <${Facts} facts=${[
        ["Answers", nanoDollars(totals.costAnswersNanoUsd)],
        ["Checks", nanoDollars(totals.costChecksNanoUsd)],
        ["Without an answer", nanoDollars(totals.costLostNanoUsd)],
        ["Additional models", nanoDollars(totals.costAdditionalNanoUsd)],
        ["Training", nanoDollars(totals.costTrainingNanoUsd)],
        ["Hosting", hosting(totals)],
        ["Local answers", count(savings.localAnswers)],
        ["They would have cost", nanoDollars(savings.avoidedNanoUsd)],
        ["Saved", savings.netNanoUsd === null ? whyUnknown(savings) : `${nanoDollars(savings.netNanoUsd)}, which is that less checks, additional models, training and hosting${range}`],
      ]} />
    <//>
  `;
}

function hosting({ costHostingNanoUsd, hostingSeconds, hostingUnpricedSeconds }) {
  if (hostingSeconds === 0) return nanoDollars(0);
  const time = `for ${duration(hostingSeconds * SECOND_MS)} of an instance`;
  if (hostingUnpricedSeconds === 0) return `${nanoDollars(costHostingNanoUsd)} ${time}`;
  return `not known: ${time}, of which ${duration(hostingUnpricedSeconds * SECOND_MS)} have no known price`;
}

function whyUnknown({ hostingNanoUsd }) {
  return hostingNanoUsd === null ? "not known: what hosting costs is not" : "not known: no paid answer under this definition";
}

function spentIn({ costAnswersNanoUsd, costChecksNanoUsd, costLostNanoUsd, costAdditionalNanoUsd, costTrainingNanoUsd, costHostingNanoUsd }) {
  return costAnswersNanoUsd + costChecksNanoUsd + costLostNanoUsd + costAdditionalNanoUsd + costTrainingNanoUsd + costHostingNanoUsd;
}

// Each day of the report, also those without runs.
function binsOf({ firstDay, lastDay, days }) {
  const costs = new Map(days.map(({ day, counts }) => [day, spentIn(counts)]));
  const [first, last] = [firstDay, lastDay].map((day) => Date.parse(`${day}T00:00:00Z`));
  return Array.from({ length: (last - first) / DAY_MS + 1 }, (_, index) => {
    const label = new Date(first + index * DAY_MS).toISOString().slice(0, 10);
    return { label, value: costs.get(label) ?? 0 };
  });
}
