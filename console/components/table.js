// Rows of things.

import { html } from "../preact.js";
import { Trouble } from "./trouble.js";

/**
 * A table that scrolls within its own box.
 *
 * `columns` are `{ name, title, width, numeric, cell(row) }`: `width` in rem keeps its place while
 * data comes, and the first column is a link if `href(row)` says where to. `rows` is null while
 * nothing is loaded: then there are `skeletons` rows of the same height. `empty` is shown where
 * there are none. `id(row)` tells rows apart, `isOpen(row)` says which is shown beside. `problem` stands above what was there before, and
 * in the place of what never came; `again` asks for it once more.
 */
export function Table({ label, columns, rows, id = (row) => row.id, href, isOpen, skeletons = 6, empty, problem, again }) {
  if (problem) {
    return html`
      <${Trouble} problem=${problem} again=${again} />
      ${rows && html`<${Table} ...${{ label, columns, rows, id, href, isOpen, empty }} />`}`;
  }
  if (rows !== null && rows.length === 0 && empty) return empty;
  const width = columns.reduce((sum, column) => sum + (column.width ?? 10), 0);
  const cell = (row, column, isFirst) => {
    const content = column.cell ? column.cell(row) : row[column.name];
    return isFirst && href ? html`<a href=${href(row)} data-row>${content}</a>` : content;
  };
  const align = (column) => (column.numeric ? "numeric" : undefined);
  return html`
    <div class="table-box" role="region" aria-label=${label} aria-busy=${rows === null} tabindex="0">
      <table style=${{ minWidth: `${width}rem` }}>
        <colgroup>${columns.map((column) => html`<col key=${column.name} style=${{ width: `${column.width ?? 10}rem` }} />`)}</colgroup>
        <thead>
          <tr>${columns.map((column) => html`<th key=${column.name} scope="col" class=${align(column)}>${column.title}</th>`)}</tr>
        </thead>
        <tbody>
          ${rows === null
            ? Array.from({ length: skeletons }, (_, row) => html`
                <tr key=${row} class="skeleton">${columns.map((column) => html`<td key=${column.name}><span></span></td>`)}</tr>`)
            : rows.map((row) => html`
                <tr key=${id(row)} aria-current=${isOpen?.(row) ? "true" : undefined}>
                  ${columns.map((column, index) => html`<td key=${column.name} class=${align(column)}>${cell(row, column, index === 0)}</td>`)}
                </tr>`)}
        </tbody>
      </table>
    </div>
  `;
}
