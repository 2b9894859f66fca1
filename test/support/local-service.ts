import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createService, type Service, type ServiceOptions } from "serverless-compute-local";
import { afterAll, afterEach, onTestFinished, type TestContext } from "vitest";
import { optionsShape } from "../../service/options";
import { newFolder } from "./folders";
import type { JobApi } from "./job-api";
import { type RawApi, rawApi } from "./raw-api";
import { stringAt } from "./raw-http";
import { discardServiceFolder, logTails } from "./service-artefacts";

/** Fields of a request body. */
export type Fields = Record<string, unknown>;

/** A local service on a free port in its own folder, accessed by raw requests. */
export interface LocalService extends RawApi {
  /** The running service; another one after a restart. */
  readonly service: Service;
  /** Root of all APIs. */
  readonly root: string;
  readonly dataFolder: string;
  /** Id of a new serverless template. */
  template(fields?: Fields): Promise<string>;
  /** Id of a new endpoint without workers; without `templateId`, it gets a new template. */
  endpoint(fields?: Fields): Promise<string>;
  /** Id of a new network volume. */
  volume(fields?: Fields): Promise<string>;
  /** The job API of a new endpoint that runs `image` with at most one worker by default. */
  jobsOn(image: string, fields?: Fields, template?: Fields): Promise<JobApi>;
  /** The log of an endpoint's workers. */
  workerLog(endpointId: string): Promise<string>;
  stop(deadline?: number): Promise<void>;
  /** Stops the service, calls `between`, and starts another one on the same folder. */
  restart(deadline?: number, between?: () => Promise<void>): Promise<void>;
  /** Stops the service, and removes its folder unless the options name it; fails if it wrote a secret outside its secret store. */
  close(): Promise<void>;
}

/** The defaults of the service on a free port, with a log of its events; `startLocalService` restricts them. */
export const serviceDefaults: ServiceOptions = { ...optionsShape.parse({}), port: 0, logLevel: "info" };

/** The key of the service's account. */
export const apiKey = "a-key-for-this-test-only";

let names = 0;
/** A name that no other test of this process uses. */
export const freshName = (what: string): string => `${what}-${++names}`;

/**
 * Starts a service. Without options, it starts no containers, has no rate limits and no console, and releases templates
 * immediately. Call `close` at the end.
 */
export async function startLocalService(options: ServiceOptions = {}): Promise<LocalService> {
  const dataFolder = options.dataFolder ?? newFolder();
  const discard = async (): Promise<void> => {
    if (options.dataFolder === undefined) await discardServiceFolder(dataFolder);
  };
  const start = (): Promise<Service> =>
    createService({
      port: 0,
      apiKey,
      runtime: "none",
      rateLimits: "off",
      stream: "array",
      templateRelease: 0,
      console: false,
      ...options,
      dataFolder,
    });
  let service = await start().catch(async (error: unknown) => {
    await discard();
    throw error;
  });
  const api = rawApi(() => service);
  const created = async (path: string, fields: Fields): Promise<string> =>
    stringAt(await api.rest("POST", path, fields), "id");
  const template: LocalService["template"] = (fields) =>
    created("/templates", { name: freshName("template"), imageName: "acme/none:1", isServerless: true, ...fields });
  const endpoint: LocalService["endpoint"] = async (fields = {}) => {
    const templateId = fields["templateId"] ?? (await template());
    const workers = { workersMin: 0, workersMax: 0 };
    return created("/endpoints", { name: freshName("endpoint"), ...workers, ...fields, templateId });
  };
  return {
    ...api,
    get service() {
      return service;
    },
    get root() {
      return service.serverlessUrl;
    },
    dataFolder,
    template,
    endpoint,
    volume: (fields) =>
      created("/networkvolumes", { name: freshName("volume"), size: 10, dataCenterId: "EU-RO-1", ...fields }),
    async jobsOn(image, fields, more) {
      const templateId = await template({ imageName: image, volumeInGb: 0, ...more });
      return api.jobs(await endpoint({ workersMax: 1, ...fields, templateId }));
    },
    workerLog: (endpointId) => readFile(join(dataFolder, "logs", `${endpointId}.log`), "utf8"),
    stop: (deadline = 0) => service.stop(deadline),
    async restart(deadline = 0, between) {
      await service.stop(deadline);
      await between?.();
      service = await start();
    },
    async close() {
      await service.stop(0);
      await discard();
    },
  };
}

const reportFailure =
  ({ dataFolder }: LocalService) =>
  async ({ task }: TestContext): Promise<void> => {
    if (task.result?.state === "fail") console.error(await logTails(dataFolder));
  };

/** Starts a service for one test. If the test fails, it prints the service's logs. */
export async function useLocalService(options?: ServiceOptions): Promise<LocalService> {
  const local = await startLocalService(options);
  onTestFinished(local.close);
  onTestFinished(reportFailure(local));
  return local;
}

/** Starts a service for all tests of a file. A failing test prints the service's logs. */
export async function useSharedService(options?: ServiceOptions): Promise<LocalService> {
  const local = await startLocalService(options);
  afterAll(local.close);
  afterEach(reportFailure(local));
  return local;
}
