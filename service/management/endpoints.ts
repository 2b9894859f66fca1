import { isDeepStrictEqual } from "node:util";
import type { Clock } from "serverless-compute-api/clock";
import { notFound, notFoundOnDelete, ServiceError } from "../errors";
import type { Database } from "../store/database";
import type { EndpointContent, EndpointRow, EndpointStore } from "../store/endpoints";
import { endpointContent, volumesOf } from "../store/endpoints";
import type { TemplateStore } from "../store/templates";
import type { VolumeStore } from "../store/volumes";
import { parseInput } from "../validation";
import { withChanges } from "./changes";
import type { ManagementEvents } from "./events";
import { newId } from "./ids";

export type { EndpointRow } from "../store/endpoints";
export type { EndpointLookup, WorkerEnvironment } from "./endpoint-lookup";

/** Fields that make a new version of an endpoint. */
const versionFields = ["templateId", "env"] as const satisfies (keyof EndpointContent)[];

/** Fields that running workers no longer fit when they change (interface: Endpoint, rule 3). */
const workerFields = [
  ...versionFields,
  "computeType",
  "gpuTypeIds",
  "gpuCount",
  "cpuFlavorIds",
  "vcpuCount",
  "instanceIds",
  "dataCenterIds",
  "allowedCudaVersions",
  "minCudaVersion",
  "networkVolumeId",
  "networkVolumeIds",
  "modelReferences",
] as const satisfies (keyof EndpointContent)[];

/** An endpoint as a door hands it to the rules; they check it by its shape. */
export type EndpointValues = { [Field in keyof EndpointContent]?: unknown };

/** Rules of endpoints. */
export interface Endpoints {
  list(): EndpointRow[];
  get(id: string): EndpointRow;
  find(id: string): EndpointRow | undefined;
  /** Without a name, the endpoint is named after its id. */
  create(values: EndpointValues): EndpointRow;
  /** Changes fields: undefined leaves one, null clears it. */
  update(id: string, changes: EndpointValues): EndpointRow;
  /** Sets every field: what `values` leaves out is reset to its default. */
  replace(id: string, values: EndpointValues): EndpointRow;
  remove(id: string, rule: { needsScaleDown: boolean }): void;
}

export function createEndpoints(deps: {
  database: Database;
  clock: Clock;
  endpoints: EndpointStore;
  templates: TemplateStore;
  volumes: VolumeStore;
  events: ManagementEvents;
}): Endpoints {
  const { database, clock, endpoints, templates, volumes, events } = deps;

  const get = (id: string): EndpointRow => {
    const found = endpoints.get(id);
    if (!found) throw notFound("endpoint", id);
    return found;
  };

  const check = (values: EndpointValues): EndpointContent => {
    const content = parseInput(endpointContent, values);
    if (!templates.get(content.templateId)) {
      throw new ServiceError("invalid", `templateId: template "${content.templateId}" does not exist`);
    }
    for (const id of volumesOf(content)) {
      if (volumes.get(id)) continue;
      const field = id === content.networkVolumeId ? "networkVolumeId" : "networkVolumeIds";
      throw new ServiceError("invalid", `${field}: network volume "${id}" does not exist`);
    }
    return { ...content, networkVolumeId: content.networkVolumeId || undefined };
  };

  const change = (id: string, valuesFrom: (current: EndpointRow) => EndpointValues): EndpointRow =>
    database.transaction(() => {
      const current = get(id);
      const content = check(valuesFrom(current));
      if (content.computeType !== current.computeType) {
        throw new ServiceError(
          "invalid",
          `computeType: "${content.computeType}" is not allowed, it cannot change: must be "${current.computeType}"`,
        );
      }
      const version = current.version + (differs(versionFields, current, content) ? 1 : 0);
      const next = { ...content, id, version, createdAt: current.createdAt };
      endpoints.update(next);
      if (current.templateId !== next.templateId) templates.used(current.templateId, clock.now());
      const workersRestart = differs(workerFields, current, next);
      database.afterCommit(() => events.emit("endpointChanged", id, { workersRestart }));
      return next;
    });

  return {
    list: () => endpoints.all(),
    get,
    find: (id) => endpoints.get(id),
    create: (values) =>
      database.transaction(() => {
        const id = newId("endpoint");
        const endpoint = { ...check({ ...values, name: values.name ?? id }), id, version: 1, createdAt: clock.now() };
        endpoints.insert(endpoint);
        database.afterCommit(() => events.emit("endpointCreated", id));
        return endpoint;
      }),
    update: (id, changes) => change(id, (current) => withChanges(current, changes)),
    replace: (id, values) => change(id, () => values),
    remove: (id, { needsScaleDown }) =>
      database.transaction(() => {
        const endpoint = endpoints.get(id);
        if (!endpoint) throw notFoundOnDelete("endpoint", id);
        if (needsScaleDown && (endpoint.workersMin > 0 || endpoint.workersMax > 0)) {
          throw new ServiceError(
            "inUse",
            `endpoint "${endpoint.name}" still allows workers: set workersMin and workersMax to 0 before deleting it`,
          );
        }
        endpoints.remove(id);
        templates.used(endpoint.templateId, clock.now());
        database.afterCommit(() => events.emit("endpointDeleted", id));
      }),
  };
}

const differs = (fields: readonly (keyof EndpointContent)[], one: EndpointContent, other: EndpointContent): boolean =>
  fields.some((field) => !isDeepStrictEqual(one[field], other[field]));
