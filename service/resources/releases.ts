import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Database } from "../store/database";
import { type Container, container, containerFields } from "./container";
import { json } from "./table";

const row = z.object({ version: z.number(), container: json(container), createdAt: z.number() });
type ReleasedContainer = z.output<typeof container>;

/** A version of an endpoint; `createdAt` in ms since the epoch. */
export interface Release {
  version: number;
  image: string;
  createdAt: number;
  /** Changes from the previous version; of environments only the variable names. */
  diff: { field: string; old: unknown; new: unknown }[];
}

const shownValue = (released: ReleasedContainer, field: keyof ReleasedContainer): unknown =>
  field === "env" ? Object.keys(released.env) : (released[field] ?? null);

const diffOf = (before: ReleasedContainer, after: ReleasedContainer): Release["diff"] =>
  containerFields
    .filter((field) => !isDeepStrictEqual(before[field], after[field]))
    .map((field) => ({ field: `template.${field}`, old: shownValue(before, field), new: shownValue(after, field) }));

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
    add: (endpointId: string, version: number, released: Container, createdAt: number): void =>
      insert.run(endpointId, version, JSON.stringify(released), createdAt),
    /** Releases of an endpoint, newest first. */
    of: (endpointId: string): Release[] =>
      byEndpoint
        .all(endpointId)
        .map(({ version, container: released, createdAt }, index, releases) => {
          const previous = releases[index - 1]?.container;
          return { version, image: released.imageName, createdAt, diff: previous ? diffOf(previous, released) : [] };
        })
        .reverse(),
    /** The versions rolled back by the newest one: all since the last version with the same content; none if the content is new. */
    rolledBack(endpointId: string): number[] {
      const [newest, ...previous] = byEndpoint.all(endpointId).reverse();
      const sameIndex = previous.findIndex((release) => isDeepStrictEqual(release.container, newest?.container));
      return previous.slice(0, Math.max(0, sameIndex)).map(({ version }) => version);
    },
    removeEndpoint: (endpointId: string): void => removal.run(endpointId),
  };
}
