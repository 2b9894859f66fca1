import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Clients with a column in the table of docs/service.md. */
export type FaultClient = "`JobInvoke`" | "`VerifiedEndpoint`" | "npm `runpod-sdk`" | "PyPI `runpod`";

/** Documented behaviour of a client under an injected fault. */
export interface FaultRow {
  /** Title of the row. */
  fault: string;
  faults: object;
  /** True if the fault is injected after the submission, so that a request to `/status` meets it. */
  afterSubmission: boolean;
  behaviour: string;
}

/** Reads a client's column of the table "Clients under injected faults" in docs/service.md. */
export function faultTable(client: FaultClient): FaultRow[] {
  const page = readFileSync(fileURLToPath(new URL("../../docs/service.md", import.meta.url)), "utf8");
  const [, section = ""] = page.split("\n### Clients under injected faults\n");
  const [titles = [], , ...rows] = section
    .slice(section.indexOf("\n|") + 1)
    .split("\n\n", 1)
    .flatMap((table) => table.split("\n"))
    .map((line) => line.split("|").map((cell) => cell.trim()));
  const column = titles.indexOf(client);
  if (column < 0 || rows.length === 0) throw new Error(`docs/service.md: the table of faults has no column ${client}`);
  return rows.map((cells) => {
    const [, fault = ""] = cells;
    const [, json = "", after] = /^`(\{.*\})`( at `\/status`)?$/.exec(fault) ?? [];
    return { fault, faults: JSON.parse(json), afterSubmission: after !== undefined, behaviour: cells[column] ?? "" };
  });
}

/** Returns the check of a documented behaviour; throws if a suite has none. */
export function checkOf<Check>(checks: Record<string, Check>, behaviour: string): Check {
  const check = checks[behaviour];
  if (check === undefined) throw new Error(`no check for the documented behaviour "${behaviour}"`);
  return check;
}
