import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createService, type ServiceOptions } from "serverless-compute-local";
import { afterAll, afterEach, onTestFinished } from "vitest";
import { createResources } from "../../../../service/resources";
import type { TemplateChanges } from "../../../../service/resources/template-table";
import { openDatabase } from "../../../../service/store/database";
import { scratchFolder, serviceFolder } from "../../../support/folders";
import { ManualClock } from "../../../support/manual-clock";
import { type RawResponse, send, stringAt } from "../../../support/raw-http";

/** Fields of a request body. */
export type Fields = Record<string, unknown>;

let names = 0;
/** A name that no other test of this process uses. */
export const freshName = (what: string): string => `${what}-${++names}`;

/** Creates the resources of an empty store without a service, for one test. */
export function useResources({ stock = {}, templateRelease = 0, workerQuota }: ServiceOptions = {}) {
  const database = openDatabase(scratchFolder());
  onTestFinished(database.close);
  const clock = new ManualClock();
  const open = () => createResources({ database, clock, templateRelease, stock, workerQuota: () => workerQuota });
  const resources = open();
  return {
    ...resources,
    clock,
    /** The resources after a restart of the service. */
    reopen: open,
    /** Id of a new template. */
    template: (fields: TemplateChanges = {}): string =>
      resources.templates.create({
        name: freshName("template"),
        imageName: "acme/chat:1",
        containerDiskInGb: 5,
        volumeInGb: 0,
        ...fields,
      }).id,
    /** Id of a new network volume in EU-RO-1. */
    volume: (): string => resources.volumes.create({ name: "models", size: 10, dataCenterId: "EU-RO-1" }).id,
  };
}

/** Starts a local service with a manual clock for a test file; a failing test prints the service's log. */
export async function useService(options: ServiceOptions = {}) {
  const folder = serviceFolder(afterAll);
  const clock = new ManualClock();
  const start = () => createService({ port: 0, dataFolder: folder, clock, logLevel: "debug", ...options });
  const service = await start();
  const log = () => readFile(join(folder, "service.log"), "utf8");
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") console.error((await log()).slice(-4000));
  });
  afterAll(() => service.stop(0));

  /** Calls REST v1; the path has no version prefix. */
  const rest = (method: string, path: string, json?: unknown): Promise<RawResponse> =>
    send(method, `${service.baseUrl}${path}`, { key: service.apiKey, json });
  const created = async (path: string, fields: Fields): Promise<string> =>
    stringAt(await rest("POST", path, fields), "id");
  return {
    clock,
    service: () => service,
    rest,
    graphql: (query: string, variables?: Fields): Promise<RawResponse> =>
      send("POST", `${service.graphqlUrl}?api_key=${service.apiKey}`, { json: { query, variables } }),
    /** Id of a new serverless template. */
    template: (fields?: Fields): Promise<string> =>
      created("/templates", { name: freshName("template"), imageName: "acme/none:1", isServerless: true, ...fields }),
    /** Id of a new endpoint without workers. */
    endpoint: (templateId: string, fields?: Fields): Promise<string> =>
      created("/endpoints", { name: freshName("endpoint"), templateId, workersMin: 0, workersMax: 0, ...fields }),
    volume: (fields?: Fields): Promise<string> =>
      created("/networkvolumes", { name: freshName("volume"), size: 10, dataCenterId: "EU-RO-1", ...fields }),
    log,
  };
}

/** The message of an error response of either API. */
export const messageOf = (response: RawResponse): string =>
  response.text.startsWith('{"data"') ? stringAt(response, "errors", 0, "message") : stringAt(response, "message");
