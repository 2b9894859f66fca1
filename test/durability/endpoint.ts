import { at, expectResponse, type RawResponse, send, stringAt } from "../support/raw-http";

/** Address and API key of a service. */
export interface ServiceAccess {
  baseUrl: string;
  serverlessUrl: string;
  apiKey: string;
}

/** Creates an endpoint whose workers run the handler of test/durability/handlers/work.mjs. Returns its id. */
export async function makeEndpoint(service: ServiceAccess, name: string, workersMax: number): Promise<string> {
  const post = async (path: string, json: object): Promise<string> => {
    const response = await send("POST", `${service.baseUrl}${path}`, { key: service.apiKey, json });
    expectResponse(response, 200);
    return stringAt(response, "id");
  };
  const template = { name, imageName: workImage, isServerless: true, volumeInGb: 0, containerDiskInGb: 5 };
  const templateId = await post("/templates", template);
  const scaling = { workersMin: 0, workersMax, idleTimeout: 60, scalerType: "REQUEST_COUNT", scalerValue: 1 };
  return post("/endpoints", { name, templateId, ...scaling });
}

/** The image of the endpoints' template. */
export const workImage = "durability/work:1";

const health = ({ serverlessUrl, apiKey }: ServiceAccess, endpointId: string): Promise<RawResponse> =>
  send("GET", `${serverlessUrl}/v2/${endpointId}/health`, { key: apiKey });

/** Number of completed jobs of the endpoints, from /health. */
export async function countCompleted(service: ServiceAccess, endpointIds: string[]): Promise<number> {
  const responses = await Promise.all(endpointIds.map((id) => health(service, id)));
  return responses.reduce((sum, { json }) => sum + Number(at(json, "jobs", "completed")), 0);
}

/** Waits up to `limit` ms until no job is queued or running. Returns the remaining jobs as text, or "". */
export async function drained(service: ServiceAccess, endpointIds: string[], limit: number): Promise<string> {
  const end = Date.now() + limit;
  for (;;) {
    const responses = await Promise.all(endpointIds.map((id) => health(service, id)));
    const open = responses.filter(
      ({ json }) => at(json, "jobs", "inQueue") !== 0 || at(json, "jobs", "inProgress") !== 0,
    );
    if (open.length === 0) return "";
    if (Date.now() > end) return open.map(({ request, text }) => `${request}: ${text}`).join("\n");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits up to `limit` ms until each endpoint has a worker that has requested a job and none that is starting. */
export async function workersReady(service: ServiceAccess, endpointIds: string[], limit: number): Promise<void> {
  const end = Date.now() + limit;
  const count = ({ json }: RawResponse, phase: string): number => Number(at(json, "workers", phase));
  for (;;) {
    const responses = await Promise.all(endpointIds.map((id) => health(service, id)));
    const ready = (response: RawResponse): boolean =>
      count(response, "initializing") === 0 && count(response, "idle") + count(response, "running") > 0;
    if (responses.every(ready) || Date.now() > end) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
