// Figures over time.

import { minute } from "../format.js";
import { html, useEffect, useRef, useState } from "../preact.js";
import { UPlot } from "../uplot.js";
import { ChartPlace } from "./chart-place.js";
import { Figures } from "./figures.js";

const HEIGHT = 180;
const TWO_DAYS = 172_800;
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dark = matchMedia("(prefers-color-scheme: dark)");

/**
 * Lines over time: `starts` are instants, `series` are `{ name, values, tone }` of the same length.
 *
 * `tone` is accent, good, warning, trouble or plain; a value of null leaves a gap. `show` makes text
 * of a value. Below stand the values where the reader points, or the newest. While it loads, `starts`
 * is null, and the names keep the place of what will stand there. With `soFar` the last is not over yet.
 * `when` makes text of an instant.
 */
export function LineChart(chart) {
  if (chart.starts === null) return html`<${ChartPlace} kind="lines" names=${chart.series.map(({ name }) => name)} />`;
  return html`<${Lines} ...${chart} />`;
}

function Lines({ label, starts, series, show = String, when = minute, height = HEIGHT, soFar = false }) {
  const box = useRef(null);
  const plot = useRef(null);
  const latest = useRef(null);
  const [pointed, setPointed] = useState(null);
  const [isDark, setDark] = useState(dark.matches);
  const seconds = starts.map((start) => new Date(start).getTime() / 1_000);
  const data = [seconds, ...series.map(({ values }) => values)];
  latest.current = show;

  useEffect(() => {
    const changed = () => setDark(dark.matches);
    dark.addEventListener("change", changed);
    return () => dark.removeEventListener("change", changed);
  }, []);

  const kinds = series.map(({ name, tone }) => `${name}:${tone}`).join();
  useEffect(() => {
    const place = box.current;
    if (place === null) return undefined; // it was taken away before it was painted
    const colour = (name) => getComputedStyle(place).getPropertyValue(name).trim();
    const axis = { stroke: colour("--soft-ink"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const options = {
      width: place.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: { y: { range: (_, least, most) => [Math.min(0, least ?? 0), most > 0 ? most * 1.08 : 1] } },
      axes: [{ ...axis, size: 30, values: ticked }, { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => latest.current(tick)) }],
      series: [{}, ...series.map(({ name, tone = "accent" }) => ({
        label: name, stroke: colour(`--${tone === "plain" ? "soft-ink" : tone}`), width: 2, points: { size: 5, filter: alone }, spanGaps: false,
      }))],
      hooks: { setCursor: [({ cursor }) => setPointed(cursor.idx ?? null)] },
    };
    const made = new UPlot(options, data, place);
    plot.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height }));
    watcher.observe(place);
    return () => {
      watcher.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [kinds, isDark, height]);

  const figures = JSON.stringify(data);
  useEffect(() => plot.current?.setData(data), [figures]);

  const at = pointed !== null && pointed < seconds.length ? pointed : seconds.length - 1;
  const text = (value) => (value === null || value === undefined ? "–" : show(value));
  const summary = `${label}: ${series.map(({ name, values }) => `${name} ${text(values.at(-1))} at the end`).join(", ")}`;
  return html`
    <figure class="chart">
      <div class="lines" ref=${box} role="img" aria-label=${summary} style=${{ height: `${height}px` }}></div>
      <figcaption class="readout">
        <span class="readout-time">${at >= 0 ? when(starts[at]) : "no time"}${soFar && at === seconds.length - 1 ? ", so far" : ""}</span>
        ${series.map(({ name, values, tone = "accent" }) => html`
          <span key=${name} data-tone=${tone}><i aria-hidden="true"></i>${name} <b>${text(values[at])}</b></span>`)}
      </figcaption>
      <${Figures} label=${label} heads=${["From", ...series.map(({ name }) => name)]}
        rows=${starts.map((start, index) => [when(start), ...series.map(({ values }) => text(values[index]))])} />
    </figure>
  `;
}

// Where there is no room for every point, those are drawn that no line leads to.
function alone(plot, at, isShown) {
  if (isShown) return null;
  const values = plot.data[at];
  const isThere = (index) => values[index] !== null && values[index] !== undefined;
  return values.flatMap((_, index) => (isThere(index) && !isThere(index - 1) && !isThere(index + 1) ? [index] : []));
}

// The day at midnight, and where there are days alone; there it stands once.
function ticked(_, ticks) {
  const isLong = ticks.at(-1) - ticks[0] > TWO_DAYS;
  const texts = ticks.map((tick) => {
    const at = new Date(tick * 1_000);
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0;
    return (isLong || isMidnight ? day : clock).format(at);
  });
  return texts.map((text, index) => (isLong && text === texts[index - 1] ? "" : text));
}
