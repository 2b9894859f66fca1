import { EventEmitter } from "node:events";
import { endpointDefaults, endpointFields, restEndpointCreate, workersRule } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { SystemClock } from "../steady-clock";
import { type Database, readStore } from "../store/database";
import { instanceIdsOf } from "./catalog";
import { containerOf } from "./container";
import type { Releases } from "./releases";
import { json, openTable } from "./table";
import type { TemplateTable } from "./template-table";

/** `cpu3c`, `cpu3c-2` or `cpu3c-2-4`: a flavour, its virtual CPUs and its memory in GB. */
const instanceIdText = z
  .string()
  .regex(/^[^-]+(?:-[1-9]\d*){0,2}$/, "<flavour>-<virtual CPUs>-<GB>, such as cpu3c-2-4");

/** Endpoint settings of a request: the body of POST /endpoints with defaults, and fields that only other APIs set. */
export const endpointSettings = z
  .object({
    ...restEndpointCreate.shape,
    name: restEndpointCreate.shape.name.unwrap(),
    /** Queue-based or load balancing; only REST v2 creates load balancing endpoints. */
    type: z.enum(["QB", "LB"]).default("QB"),
    /** REST v2 allows fractions of a second. */
    scalerValue: z.number().min(0.5).default(endpointDefaults.scalerValue),
    /** Variables that override the template's. */
    env: z.record(z.string(), z.string()).default({}),
    /** GPU pools and types as sent to GraphQL; `gpuTypeIds` contains the resulting types. */
    gpuIds: z.string().optional(),
    instanceIds: z.array(instanceIdText).default([]),
    modelReferences: z.array(z.string()).default([]),
    /** The boolean of REST v1. */
    flashboot: z.boolean().optional(),
    flashBootType: endpointFields.flashbootType.default("OFF"),
    flashEnvironmentId: z.string().optional(),
    workersPFBTarget: z.int().optional(),
  })
  .check(workersRule);

type FlashBootType = z.output<typeof endpointSettings>["flashBootType"];

/** The FlashBoot type after a request of REST v1, whose boolean is true for each type but OFF. */
function flashBootTypeOf(isOn: boolean | undefined, current: FlashBootType): FlashBootType {
  if (isOn === undefined || isOn === (current !== "OFF")) return current;
  return isOn ? "FLASHBOOT" : "OFF";
}

/** The stored settings. CPU endpoints have instances instead of flavours and a number of CPUs. */
export const contentOf = ({ cpuFlavorIds, vcpuCount, flashboot, ...settings }: z.output<typeof endpointSettings>) => ({
  ...settings,
  flashBootType: flashBootTypeOf(flashboot, settings.flashBootType),
  instanceIds: settings.computeType === "CPU" ? instanceIdsOf(settings.instanceIds, { cpuFlavorIds, vcpuCount }) : [],
});
export type EndpointContent = ReturnType<typeof contentOf>;

/** Unchecked endpoint values from an API. */
export type EndpointValues = { [Field in keyof z.input<typeof endpointSettings>]?: unknown };

/** Ids of the volumes mounted by an endpoint's workers. */
export const volumesOf = ({ networkVolumeId, networkVolumeIds }: EndpointContent): string[] => [
  ...new Set(networkVolumeId ? [networkVolumeId, ...networkVolumeIds] : networkVolumeIds),
];

/** An endpoint: `idleTimeout` and `scalerValue` in seconds, `executionTimeoutMs` in ms, `createdAt` in ms since the epoch. */
export interface EndpointRow extends EndpointContent {
  id: string;
  /** Number of changes of the template and environment. */
  version: number;
  createdAt: number;
}

const row = z
  .object({ id: z.string(), version: z.number(), content: json(endpointSettings), createdAt: z.number() })
  .transform(({ content, ...rest }): EndpointRow => ({ ...contentOf(content), ...rest }));

/** Events of endpoints and their objects, emitted after the commit. Listeners must not depend on their order. */
export type EndpointEvents = EventEmitter<{
  endpointCreated: [endpointId: string];
  /** `workersRestart` is true if running workers are outdated (GPU type, template, env). */
  endpointChanged: [endpointId: string, change: { workersRestart: boolean }];
  /** An endpoint was deleted, with its jobs and logs. */
  endpointDeleted: [endpointId: string];
  volumeDeleted: [volumeId: string];
}>;

/** The rows of endpoints. Every write emits an event after its commit. */
export type EndpointTable = ReturnType<typeof openEndpointTable>;

export function openEndpointTable(deps: {
  database: Database;
  clock: SystemClock;
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
  /** Cache of endpoints for the job path. Cleared before the first event of a commit, so that all listeners read the new values. */
  const cache = new Map<string, EndpointRow>();
  const emitAfterCommit = (emit: () => void): void =>
    database.afterCommit(() => {
      cache.clear();
      emit();
    });

  const addRelease = ({ id, version, templateId, env }: EndpointRow): void => {
    const template = templates.get(templateId);
    releases.add(id, version, { ...containerOf(template), env: { ...template.env, ...env } }, clock.now());
  };

  return {
    ...table,
    events,
    byTemplate: table.by("template_id"),
    byVolume: (volumeId: string): EndpointRow[] =>
      table.list().filter((endpoint) => volumesOf(endpoint).includes(volumeId)),
    /** The last committed state of an endpoint, usually from the cache; undefined if it does not exist. */
    committed: (id: string): EndpointRow | undefined => {
      const endpoint = cache.get(id) ?? table.find(id);
      if (endpoint) cache.set(id, endpoint);
      return endpoint;
    },
    insert: (endpoint: EndpointRow): void => {
      insert.run(...values(endpoint), endpoint.createdAt);
      addRelease(endpoint);
      emitAfterCommit(() => events.emit("endpointCreated", endpoint.id));
    },
    update: (endpoint: EndpointRow, change: { workersRestart: boolean }): void => {
      const before = table.find(endpoint.id)?.version;
      update.run(...values(endpoint));
      if (endpoint.version !== before) addRelease(endpoint);
      emitAfterCommit(() => events.emit("endpointChanged", endpoint.id, change));
    },
    remove: (id: string, before: (endpoint: EndpointRow) => void): void =>
      database.transaction(() => {
        table.remove(id, before);
        releases.removeEndpoint(id);
        emitAfterCommit(() => events.emit("endpointDeleted", id));
      }),
  };
}

/** Reads ids and names of a data folder's endpoints, even while a service runs on it; undefined if there is no store yet. */
export const readEndpointNames = (dataFolder: string): { id: string; name: string }[] | undefined =>
  readStore(
    dataFolder,
    "SELECT id, name FROM endpoints ORDER BY rowid",
    z.object({ id: z.string(), name: z.string() }),
  );
