import { EventEmitter } from "node:events";
import type { Clock } from "serverless-compute-api/clock";
import { endpointDefaults, restEndpointCreate } from "serverless-compute-api/shapes";
import { z } from "zod";
import { type Database, lookIntoStore } from "../store/database";
import { instanceIdsOf } from "./catalog";
import { containerOf, type Releases } from "./releases";
import { json, openTable } from "./table";
import type { TemplateTable } from "./template-table";

/** Settings of an endpoint in a request: the body of POST /endpoints with its defaults, and what only other APIs set. */
export const endpointSettings = restEndpointCreate.safeExtend({
  name: restEndpointCreate.shape.name.unwrap(),
  /** Queue-based or load balancing; only REST v2 makes the second kind. */
  type: z.enum(["QB", "LB"]).default("QB"),
  /** REST v2 allows parts of a second. */
  scalerValue: z.number().min(0.5).default(endpointDefaults.scalerValue),
  /** Variables over the template's. */
  env: z.record(z.string(), z.string()).default({}),
  /** GPU pools and types as GraphQL was sent them; `gpuTypeIds` are what they stand for. */
  gpuIds: z.string().optional(),
  /** CPU instances. */
  instanceIds: z.array(z.string()).default([]),
  modelReferences: z.array(z.string()).default([]),
  flashbootPriority: z.boolean().optional(),
  flashEnvironmentId: z.string().optional(),
  workersPFBTarget: z.int().optional(),
});

/** The settings that are stored: CPU endpoints have instances instead of flavours and a number of CPUs. */
export const contentOf = ({ cpuFlavorIds, vcpuCount, ...settings }: z.output<typeof endpointSettings>) => ({
  ...settings,
  instanceIds: settings.computeType === "CPU" ? instanceIdsOf(settings.instanceIds, { cpuFlavorIds, vcpuCount }) : [],
});
export type EndpointContent = ReturnType<typeof contentOf>;

/** An endpoint as an API hands it over, not yet checked. */
export type EndpointValues = { [Field in keyof z.input<typeof endpointSettings>]?: unknown };

/** Ids of the volumes that an endpoint's workers mount. */
export const volumesOf = ({ networkVolumeId, networkVolumeIds }: EndpointContent): string[] => [
  ...new Set(networkVolumeId ? [networkVolumeId, ...networkVolumeIds] : networkVolumeIds),
];

/** How fast an endpoint's workers start, in the one word that newer APIs have for it. */
export const flashBootType = ({ flashboot, flashbootPriority }: EndpointContent): string => {
  if (!flashboot) return "OFF";
  return flashbootPriority ? "PRIORITY_FLASHBOOT" : "FLASHBOOT";
};

/** An endpoint: `idleTimeout` and `scalerValue` in seconds, `executionTimeoutMs` in ms, `createdAt` in ms since the epoch. */
export interface EndpointRow extends EndpointContent {
  id: string;
  /** Counts the changes of its template and environment. */
  version: number;
  createdAt: number;
}

const row = z
  .object({ id: z.string(), version: z.number(), content: json(endpointSettings), createdAt: z.number() })
  .transform(({ content, ...rest }): EndpointRow => ({ ...contentOf(content), ...rest }));

/** Events of endpoints and the objects that they use, emitted after the commit; the order of listeners does not matter. */
export type EndpointEvents = EventEmitter<{
  endpointCreated: [endpointId: string];
  /** `workersRestart` when running workers no longer fit (GPU type, template, env). */
  endpointChanged: [endpointId: string, change: { workersRestart: boolean }];
  /** An endpoint is gone, with its jobs and logs. */
  endpointDeleted: [endpointId: string];
  volumeDeleted: [volumeId: string];
}>;

/** The rows of endpoints. Every write announces itself after its commit. */
export type EndpointTable = ReturnType<typeof openEndpointTable>;

export function openEndpointTable(deps: {
  database: Database;
  clock: Clock;
  templates: Pick<TemplateTable, "get">;
  releases: Releases;
}) {
  const { database, clock, templates, releases } = deps;
  const columns = "id, version, content, created_at AS createdAt";
  const table = openTable(database, { name: "endpoints", noun: "endpoint", columns, row });
  const insert = database.prepare(
    "INSERT INTO endpoints (name, template_id, version, content, id, created_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const update = database.prepare(
    "UPDATE endpoints SET name = ?, template_id = ?, version = ?, content = ? WHERE id = ?",
  );
  const values = ({ id, version, createdAt, ...content }: EndpointRow) =>
    [content.name, content.templateId, version, JSON.stringify(content), id] as const;

  const events: EndpointEvents = new EventEmitter();
  /** Endpoints that the job path asked for. Forgotten whole before the first event of a commit, so that every listener reads the new values. */
  const known = new Map<string, EndpointRow>();
  const announce = (emit: () => void): void =>
    database.afterCommit(() => {
      known.clear();
      emit();
    });

  const release = ({ id, version, templateId, env }: EndpointRow): void =>
    releases.add(id, version, containerOf(templates.get(templateId), env), clock.now());

  return {
    ...table,
    events,
    byTemplate: table.by("template_id"),
    byVolume: (volumeId: string): EndpointRow[] =>
      table.list().filter((endpoint) => volumesOf(endpoint).includes(volumeId)),
    /** The endpoint as it was last committed, mostly from memory; undefined when there is none. */
    committed: (id: string): EndpointRow | undefined => {
      const endpoint = known.get(id) ?? table.find(id);
      if (endpoint) known.set(id, endpoint);
      return endpoint;
    },
    insert: (endpoint: EndpointRow): void => {
      insert.run(...values(endpoint), endpoint.createdAt);
      release(endpoint);
      announce(() => events.emit("endpointCreated", endpoint.id));
    },
    update: (endpoint: EndpointRow, change: { workersRestart: boolean }): void => {
      const before = table.find(endpoint.id)?.version;
      update.run(...values(endpoint));
      if (endpoint.version !== before) release(endpoint);
      announce(() => events.emit("endpointChanged", endpoint.id, change));
    },
    remove: (id: string, before: (endpoint: EndpointRow) => void): void =>
      database.transaction(() => {
        table.remove(id, before);
        releases.forget(id);
        announce(() => events.emit("endpointDeleted", id));
      }),
  };
}

/** Ids and names of a data folder's endpoints, read beside the service that may run there; undefined when there is no store yet. */
export const lookUpEndpointNames = (dataFolder: string): { id: string; name: string }[] | undefined =>
  lookIntoStore(
    dataFolder,
    "SELECT id, name FROM endpoints ORDER BY rowid",
    z.object({ id: z.string(), name: z.string() }),
  );
