import { isDeepStrictEqual } from "node:util";
import { cpuFlavorIds, dataCenterIds, gpuTypeIds } from "serverless-compute-api/catalog";
import { cudaVersion } from "serverless-compute-api/shapes";
import { invalidProperty, ServiceError } from "../errors";
import type { SystemClock } from "../steady-clock";
import type { Database } from "../store/database";
import { parseInput } from "../validation";
import { instanceOf, requireListed } from "./catalog";
import {
  contentOf,
  type EndpointContent,
  type EndpointRow,
  type EndpointTable,
  type EndpointValues,
  endpointSettings,
  volumesOf,
} from "./endpoint-table";
import { withChanges } from "./table";
import type { Templates } from "./templates";
import type { Volumes } from "./volumes";

/** Fields of a new endpoint that cannot be changed. */
const fixedFields = ["computeType", "type"] as const satisfies (keyof EndpointContent)[];

/** Fields whose change creates a new version of an endpoint. */
const versionFields = ["templateId", "env"] as const satisfies (keyof EndpointContent)[];

/** Fields whose change makes running workers outdated (interface: Endpoint, rule 3). */
const workerFields = [
  ...versionFields,
  "gpuTypeIds",
  "gpuCount",
  "instanceIds",
  "dataCenterIds",
  "allowedCudaVersions",
  "minCudaVersion",
  "networkVolumeId",
  "networkVolumeIds",
  "modelReferences",
] as const satisfies (keyof EndpointContent)[];

const invalid = (property: keyof EndpointContent, text: string): ServiceError =>
  invalidProperty(property, text, "endpoint");

const differs = (fields: readonly (keyof EndpointContent)[], left: EndpointContent, right: EndpointContent): boolean =>
  fields.some((field) => !isDeepStrictEqual(left[field], right[field]));

/** Checks the form that REST v2 describes, and that each value in REST v1's description has. */
function requireCudaVersions(field: "allowedCudaVersions" | "minCudaVersion", versions: readonly string[]): void {
  const other = versions.find((version) => !cudaVersion.safeParse(version).success);
  if (other !== undefined) throw invalid(field, `"${other}" is not allowed; must be <major>.<minor>, such as 12.8`);
}

/** Endpoints and their rules. */
export type Endpoints = ReturnType<typeof createEndpoints>;

export function createEndpoints(deps: {
  database: Database;
  clock: SystemClock;
  table: EndpointTable;
  templates: Pick<Templates, "find" | "release">;
  volumes: Pick<Volumes, "find">;
  workerQuota(): number | undefined;
}) {
  const { database, clock, table, templates, volumes } = deps;

  const check = (values: EndpointValues): EndpointContent => {
    const settings = parseInput(endpointSettings, values, { of: "endpoint" });
    // Before the flavours become part of instance ids, where a number in their id would replace vcpuCount.
    requireListed("cpuFlavorIds", settings.cpuFlavorIds ?? [], cpuFlavorIds, "endpoint");
    const content = contentOf(settings);
    requireListed("gpuTypeIds", content.gpuTypeIds, gpuTypeIds, "endpoint");
    const flavors = content.instanceIds.map((id) => instanceOf(id).flavor);
    requireListed("cpuFlavorIds", flavors, cpuFlavorIds, "endpoint");
    requireListed("dataCenterIds", content.dataCenterIds, dataCenterIds, "endpoint");
    requireCudaVersions("allowedCudaVersions", content.allowedCudaVersions);
    // An empty text clears the minimum.
    requireCudaVersions("minCudaVersion", content.minCudaVersion ? [content.minCudaVersion] : []);
    if (content.type === "LB" && content.scalerType !== "REQUEST_COUNT")
      throw invalid(
        "scalerType",
        `"${content.scalerType}" is not allowed; must be REQUEST_COUNT for a load balancing endpoint`,
      );
    if (!templates.find(content.templateId)) {
      throw invalid("templateId", `template "${content.templateId}" does not exist`);
    }
    for (const id of volumesOf(content)) {
      if (volumes.find(id)) continue;
      const field = id === content.networkVolumeId ? "networkVolumeId" : "networkVolumeIds";
      throw invalid(field, `network volume "${id}" does not exist`);
    }
    return { ...content, networkVolumeId: content.networkVolumeId || undefined };
  };

  /** The worker quota, and the sum of `workersMax` of all endpoints except `exceptId`. */
  const quota = (exceptId?: string): { limit: number | undefined; used: number } => ({
    limit: deps.workerQuota(),
    used: table.list().reduce((sum, { id, workersMax }) => (id === exceptId ? sum : sum + workersMax), 0),
  });

  const checkQuota = ({ workersMax }: EndpointContent, current?: EndpointRow): void => {
    if (deps.workerQuota() === undefined || workersMax <= (current?.workersMax ?? 0)) return;
    const { limit = 0, used } = quota(current?.id);
    if (used + workersMax <= limit) return;
    const usage = `${workersMax} requested, ${used} of ${limit} already allocated`;
    throw invalid("workersMax", `the worker quota is exceeded; ${usage}`);
  };

  const change = (id: string, toValues: (current: EndpointRow) => EndpointValues): EndpointRow =>
    database.transaction(() => {
      const current = table.get(id);
      const content = check(toValues(current));
      for (const field of fixedFields) {
        if (content[field] === current[field]) continue;
        throw invalid(field, `"${content[field]}" is not allowed; must be "${current[field]}"; it cannot be changed`);
      }
      checkQuota(content, current);
      const version = current.version + (differs(versionFields, current, content) ? 1 : 0);
      const updated = { ...content, id, version, createdAt: current.createdAt };
      table.update(updated, { workersRestart: differs(workerFields, current, updated) });
      if (current.templateId !== updated.templateId) templates.release(current);
      return updated;
    });

  return {
    list: table.list,
    newest: table.newest,
    get: table.get,
    find: table.find,
    newId: table.newId,
    quota,
    /** Creates an endpoint. The name defaults to the id. */
    create: (values: EndpointValues, id = table.newId()): EndpointRow =>
      database.transaction(() => {
        const content = check({ ...values, name: values.name ?? id });
        checkQuota(content);
        const endpoint = { ...content, id, version: 1, createdAt: clock.now() };
        table.insert(endpoint);
        return endpoint;
      }),
    /** Changes fields: undefined keeps a field, null clears it. */
    update: (id: string, changes: EndpointValues): EndpointRow =>
      change(id, (current) => withChanges(current, changes)),
    /** Sets all fields; fields missing from `values` are reset to their defaults. */
    replace: (id: string, values: EndpointValues): EndpointRow => change(id, () => values),
    remove: (id: string, { needsScaleDown }: { needsScaleDown: boolean }): void =>
      database.transaction(() => {
        const endpoint = table.find(id);
        table.remove(id, ({ name, workersMin, workersMax }) => {
          if (!needsScaleDown || workersMin + workersMax === 0) return;
          throw new ServiceError(
            "inUse",
            `endpoint "${name}" still allows workers: set workersMin and workersMax to 0 before deleting it`,
          );
        });
        if (endpoint) templates.release(endpoint);
      }),
  };
}
