import { restEndpointCreate } from "serverless-compute-api/shapes";
import { z } from "zod";
import { type Database, lookIntoStore } from "./database";
import { json } from "./json-column";

/** What an endpoint is set to: the body of POST /endpoints with its defaults, and what only GraphQL can set. */
export const endpointContent = restEndpointCreate.safeExtend({
  name: restEndpointCreate.shape.name.unwrap(),
  /** Variables over the template's. */
  env: z.record(z.string(), z.string()).default({}),
  /** CPU instances, GraphQL only. */
  instanceIds: z.array(z.string()).default([]),
  modelReferences: z.array(z.string()).default([]),
});
export type EndpointContent = z.output<typeof endpointContent>;

/** An endpoint: `idleTimeout` and `scalerValue` in seconds, `executionTimeoutMs` in ms, `createdAt` in ms since the epoch. */
export interface EndpointRow extends EndpointContent {
  id: string;
  /** Counts the changes of its template and environment. */
  version: number;
  createdAt: number;
}

const row = z
  .object({
    id: z.string(),
    version: z.number(),
    created_at: z.number(),
    content: json(endpointContent),
  })
  .transform(
    ({ id, version, created_at, content }): EndpointRow => ({ ...content, id, version, createdAt: created_at }),
  );

/** Ids of the volumes that an endpoint's workers mount. */
export const volumesOf = ({ networkVolumeId, networkVolumeIds }: EndpointContent): string[] =>
  networkVolumeId ? [networkVolumeId, ...networkVolumeIds] : networkVolumeIds;

/** The table of endpoints. */
export interface EndpointStore {
  all(): EndpointRow[];
  get(id: string): EndpointRow | undefined;
  byTemplate(templateId: string): EndpointRow[];
  byVolume(volumeId: string): EndpointRow[];
  insert(endpoint: EndpointRow): void;
  update(endpoint: EndpointRow): void;
  remove(id: string): void;
}

export function createEndpointStore(database: Database): EndpointStore {
  const select = "SELECT id, version, created_at, content FROM endpoints";
  const all = database.query(`${select} ORDER BY rowid`, row);
  const get = database.query(`${select} WHERE id = ?`, row);
  const byTemplate = database.query(`${select} WHERE template_id = ? ORDER BY rowid`, row);
  const insert = database.prepare(
    "INSERT INTO endpoints (name, template_id, version, content, id, created_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const update = database.prepare(
    "UPDATE endpoints SET name = ?, template_id = ?, version = ?, content = ? WHERE id = ?",
  );
  const remove = database.prepare("DELETE FROM endpoints WHERE id = ?");
  const columns = ({ id, version, createdAt, ...content }: EndpointRow) =>
    [content.name, content.templateId, version, JSON.stringify(content)] as const;
  return {
    all: () => all.all(),
    get: (id) => get.get(id),
    byTemplate: (templateId) => byTemplate.all(templateId),
    byVolume: (volumeId) => all.all().filter((endpoint) => volumesOf(endpoint).includes(volumeId)),
    insert: (endpoint) => void insert.run(...columns(endpoint), endpoint.id, endpoint.createdAt),
    update: (endpoint) => void update.run(...columns(endpoint), endpoint.id),
    remove: (id) => void remove.run(id),
  };
}

/** Ids and names of a data folder's endpoints, read beside the service that may run there; undefined when there is no store yet. */
export const lookUpEndpointNames = (dataFolder: string): { id: string; name: string }[] | undefined =>
  lookIntoStore(
    dataFolder,
    "SELECT id, name FROM endpoints ORDER BY rowid",
    z.object({ id: z.string(), name: z.string() }),
  );
