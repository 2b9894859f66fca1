import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Database } from "../store/database";
import { json } from "./table";
import type { TemplateRow } from "./template-table";

/** Worker content of one version of an endpoint. */
const container = z.object({
  image: z.string(),
  args: z.string(),
  disk: z.number(),
  env: z.record(z.string(), z.string()),
  ports: z.string(),
  registry: z.string().nullable(),
});
type ReleasedContainer = z.output<typeof container>;

const row = z.object({ version: z.number(), container: json(container), createdAt: z.number() });

/** A version of an endpoint, since `createdAt` in ms since the epoch. */
export interface Release {
  version: number;
  image: string;
  createdAt: number;
  /** Changes of the version before; of an environment only the names. */
  diff: { field: string; old: unknown; new: unknown }[];
}

/** The container of an endpoint: its template's, with the endpoint's own variables over the template's. */
export const containerOf = (template: TemplateRow, env: Record<string, string>): ReleasedContainer => ({
  image: template.imageName,
  args: template.dockerArgs,
  disk: template.containerDiskInGb,
  env: { ...template.env, ...env },
  ports: template.ports,
  registry: template.containerRegistryAuthId ?? null,
});

/** The fields of a container, and their names in releases. */
const releasedFields = [
  ["image", "template.imageName"],
  ["args", "template.dockerArgs"],
  ["disk", "template.containerDiskInGb"],
  ["ports", "template.ports"],
  ["registry", "template.containerRegistryAuthId"],
] as const satisfies [keyof ReleasedContainer, string][];

function diffOf(before: ReleasedContainer | undefined, after: ReleasedContainer): Release["diff"] {
  if (!before) return [];
  const changed = releasedFields
    .filter(([key]) => before[key] !== after[key])
    .map(([key, field]) => ({ field, old: before[key], new: after[key] }));
  if (isDeepStrictEqual(before.env, after.env)) return changed;
  const env = { field: "template.env", old: Object.keys(before.env), new: Object.keys(after.env) };
  return [...changed, env];
}

/** The versions of endpoints, kept as long as the endpoint. */
export type Releases = ReturnType<typeof openReleases>;

export function openReleases(database: Database) {
  const insert = database.prepare(
    "INSERT INTO releases (endpoint_id, version, container, created_at) VALUES (?, ?, ?, ?)",
  );
  const removal = database.prepare("DELETE FROM releases WHERE endpoint_id = ?");
  const byEndpoint = database.query(
    "SELECT version, container, created_at AS createdAt FROM releases WHERE endpoint_id = ? ORDER BY version",
    row,
  );
  return {
    add: (endpointId: string, version: number, released: ReleasedContainer, at: number): void =>
      void insert.run(endpointId, version, JSON.stringify(released), at),
    /** The newest first. Those of before a store had releases are missing. */
    of: (endpointId: string): Release[] =>
      byEndpoint
        .all(endpointId)
        .map(({ version, container, createdAt }, index, all) => ({
          version,
          image: container.image,
          createdAt,
          diff: diffOf(all[index - 1]?.container, container),
        }))
        .reverse(),
    /** The versions that the newest one sets back: those since the last one that ran the same; none when it is new. */
    rolledBack(endpointId: string): number[] {
      const [newest, ...before] = byEndpoint.all(endpointId).reverse();
      const same = before.findIndex(({ container }) => isDeepStrictEqual(container, newest?.container));
      return before.slice(0, Math.max(0, same)).map(({ version }) => version);
    },
    forget: (endpointId: string): void => void removal.run(endpointId),
  };
}
