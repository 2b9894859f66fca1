import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** Clients with a column in a table of docs/guides/rehearse-failures.md. */
export type FaultClient =
  | "`JobInvoke`"
  | "`VerifiedEndpoint`"
  | "npm `runpod-sdk`"
  | "PyPI `runpod`"
  | "`JobInvoke.request`"
  | "`verify.request`";

/** Documented behaviour of a client under an injected fault. */
export interface FaultRow {
  /** Title of the row. */
  fault: string;
  faults: object;
  /** True if the fault is injected after the submission, so that a request to `/status` meets it. */
  afterSubmission: boolean;
  behaviour: string;
}

/** Reads a client's column of the tables in "Clients under injected faults" of docs/guides/rehearse-failures.md. */
export function faultTable(client: FaultClient): FaultRow[] {
  const page = readFileSync(fileURLToPath(new URL("../../docs/guides/rehearse-failures.md", import.meta.url)), "utf8");
  const lines = page.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const start = lines.findIndex((cells) => cells[1] === "fault" && cells.includes(client));
  if (start < 0) throw new Error(`docs/guides/rehearse-failures.md: no table of faults has the column ${client}`);
  const column = lines[start]?.indexOf(client) ?? 0;
  const rows = lines.slice(start + 2);
  return rows
    .slice(
      0,
      rows.findIndex((cells) => cells.length === 1),
    )
    .map((cells) => {
      const [, fault = ""] = cells;
      const [, json = "", atStatus] = /^`(\{.*\})`( at `\/status`)?$/.exec(fault) ?? [];
      return {
        fault,
        faults: JSON.parse(json),
        afterSubmission: atStatus !== undefined,
        behaviour: cells[column] ?? "",
      };
    });
}

/** Fails if a response about the remaining faults contains one of those that a row injects a number of times. */
export function expectNoneLeft({ faults }: FaultRow, remaining: unknown): void {
  for (const fault of Object.keys(faults).filter((name) => !["delay", "workers", "noStock"].includes(name)))
    expect(remaining).toHaveProperty(fault, 0);
}

/** Returns the check of a documented behaviour; throws if a suite has none. */
export function checkOf<Check>(checks: Record<string, Check>, behaviour: string): Check {
  const check = checks[behaviour];
  if (check === undefined) throw new Error(`no check for the documented behaviour "${behaviour}"`);
  return check;
}
