import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Database } from "../store/database";
import { json } from "./table";
import type { TemplateRow } from "./template-table";

/** Container settings of one endpoint version. */
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

/** A version of an endpoint; `createdAt` in ms since the epoch. */
export interface Release {
  version: number;
  image: string;
  createdAt: number;
  /** Changes from the previous version; of environments only the variable names. */
  diff: { field: string; old: unknown; new: unknown }[];
}

/** The container settings of an endpoint: the template's, with variables overridden by the endpoint's. */
export const containerOf = (template: TemplateRow, env: Record<string, string>): ReleasedContainer => ({
  image: template.imageName,
  args: template.dockerArgs,
  disk: template.containerDiskInGb,
  env: { ...template.env, ...env },
  ports: template.ports,
  registry: template.containerRegistryAuthId ?? null,
});

/** Container fields and their names in releases. */
const releasedFields = [
  ["image", "template.imageName"],
  ["args", "template.dockerArgs"],
  ["disk", "template.containerDiskInGb"],
  ["ports", "template.ports"],
  ["registry", "template.containerRegistryAuthId"],
] as const satisfies [keyof ReleasedContainer, string][];

function diffOf(before: ReleasedContainer | undefined, after: ReleasedContainer): Release["diff"] {
  if (!before) return [];
  const differences = releasedFields
    .filter(([key]) => before[key] !== after[key])
    .map(([key, field]) => ({ field, old: before[key], new: after[key] }));
  if (isDeepStrictEqual(before.env, after.env)) return differences;
  const env = { field: "template.env", old: Object.keys(before.env), new: Object.keys(after.env) };
  return [...differences, env];
}

/** The versions of endpoints, kept until the endpoint is deleted. */
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
    add: (endpointId: string, version: number, released: ReleasedContainer, createdAt: number): void =>
      insert.run(endpointId, version, JSON.stringify(released), createdAt),
    /** Releases of an endpoint, newest first. */
    of: (endpointId: string): Release[] =>
      byEndpoint
        .all(endpointId)
        .map(({ version, container, createdAt }, index, releases) => ({
          version,
          image: container.image,
          createdAt,
          diff: diffOf(releases[index - 1]?.container, container),
        }))
        .reverse(),
    /** The versions rolled back by the newest one: all since the last version with the same content; none if the content is new. */
    rolledBack(endpointId: string): number[] {
      const [newest, ...previous] = byEndpoint.all(endpointId).reverse();
      const sameIndex = previous.findIndex(({ container }) => isDeepStrictEqual(container, newest?.container));
      return previous.slice(0, Math.max(0, sameIndex)).map(({ version }) => version);
    },
    removeEndpoint: (endpointId: string): void => removal.run(endpointId),
  };
}
