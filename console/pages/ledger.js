// The ledger: what language models were asked, what it cost, and what is still to be done about it.

import { html } from "../preact.js";
import { Batch } from "./ledger/batch.js";
import { Batches } from "./ledger/batches.js";
import { Connection, Connections } from "./ledger/connections.js";
import { Import, Imports } from "./ledger/imports.js";
import { Request } from "./ledger/request.js";
import { Requests } from "./ledger/requests.js";
import { Spend } from "./ledger/spend.js";

const VIEWS = {
  requests: { List: Requests, One: Request },
  batches: { List: Batches, One: Batch },
  connections: { List: Connections, One: Connection },
  imports: { List: Imports, One: Import },
};

export const title = "Ledger";

export default function Ledger({ path, query, me }) {
  const [view, id] = path;
  const { List, One } = VIEWS[view] ?? { List: Spend };
  const mayChange = me.role === "admin";
  if (id) return html`<${One} key=${id} id=${id} query=${query} mayChange=${mayChange} />`;
  return html`<${List} key=${view} query=${query} mayChange=${mayChange} />`;
}
