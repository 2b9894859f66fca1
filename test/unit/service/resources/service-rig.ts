import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createService, type Service, type ServiceOptions } from "serverless-compute-local";
import { afterAll, afterEach, onTestFinished } from "vitest";
import { createResources } from "../../../../service/resources";
import { openDatabase } from "../../../../service/store/database";
import { ManualClock } from "../../../support/manual-clock";
import { type Answer, send, stringAt } from "../../../support/raw-http";
import { discardServiceFolder } from "../../../support/service-artefacts";

/** Fields of a request body. */
export type Fields = Record<string, unknown>;

/** A local service whose time stands still, and its two management APIs by raw HTTP. */
export interface ServiceRig {
  readonly folder: string;
  readonly clock: ManualClock;
  service(): Service;
  /** A call of the REST API, path without the version prefix. */
  rest(method: string, path: string, json?: unknown): Promise<Answer>;
  graphql(query: string, variables?: Fields): Promise<Answer>;
  /** Id of a new serverless template. */
  template(fields?: Fields): Promise<string>;
  /** Id of a new endpoint without workers. */
  endpoint(templateId: string, fields?: Fields): Promise<string>;
  volume(fields?: Fields): Promise<string>;
  /** Stops the service and starts it on the same folder. */
  restart(): Promise<void>;
  log(): Promise<string>;
}

let names = 0;
/** A name that no other test of this process uses. */
export const freshName = (what: string): string => `${what}-${++names}`;

/** The resources of an empty store without a service, for one test; all types are in stock unless `stock` contains them. */
export function useResources(stock: Parameters<typeof createResources>[0]["stock"] = {}) {
  const folder = mkdtempSync(join(tmpdir(), "resources-"));
  const database = openDatabase(folder);
  onTestFinished(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const clock = new ManualClock();
  return createResources({ database, clock, templateRelease: 0, stock, workerQuota: () => undefined });
}

/** A service for a test file, gone after its last test; a failing test prints the service's log. */
export async function useService(options: ServiceOptions = {}): Promise<ServiceRig> {
  const folder = await mkdtemp(join(tmpdir(), "service-"));
  const clock = new ManualClock();
  const start = () => createService({ port: 0, dataFolder: folder, clock, logLevel: "debug", ...options });
  let service = await start();
  const log = () => readFile(join(folder, "service.log"), "utf8");
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") console.error((await log()).slice(-4000));
  });
  afterAll(async () => {
    await service.stop(0);
    await discardServiceFolder(folder);
  });

  const rest: ServiceRig["rest"] = (method, path, json) =>
    send(method, `${service.baseUrl}${path}`, { key: service.apiKey, json });
  const made = async (path: string, fields: Fields): Promise<string> =>
    stringAt(await rest("POST", path, fields), "id");
  return {
    folder,
    clock,
    service: () => service,
    rest,
    graphql: (query, variables) =>
      send("POST", `${service.graphqlUrl}?api_key=${service.apiKey}`, { json: { query, variables } }),
    template: (fields) =>
      made("/templates", { name: freshName("template"), imageName: "acme/none:1", isServerless: true, ...fields }),
    endpoint: (templateId, fields) =>
      made("/endpoints", { name: freshName("endpoint"), templateId, workersMin: 0, workersMax: 0, ...fields }),
    volume: (fields) =>
      made("/networkvolumes", { name: freshName("volume"), size: 10, dataCenterId: "EU-RO-1", ...fields }),
    restart: async () => {
      await service.stop(0);
      service = await start();
    },
    log,
  };
}

/** The message of an error response of either API. */
export const messageOf = (answer: Answer): string =>
  answer.text.startsWith('{"data"') ? stringAt(answer, "errors", 0, "message") : stringAt(answer, "message");
