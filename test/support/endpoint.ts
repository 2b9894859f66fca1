import { expectResponse, send, stringAt } from "./raw-http";

/** Creates an endpoint with at most one worker and its own template by REST v2. Returns its id. */
export async function createEndpoint(
  { url, apiKey }: { url: string; apiKey: string },
  image: string,
  fields: object = {},
): Promise<string> {
  const compute = { type: "QUEUE", gpu: { pools: ["AMPERE_24"] }, scaling: { type: "QUEUE_DELAY", queueDelay: 4 } };
  const json = { name: "chat", image, workers: { max: 1 }, ...compute, ...fields };
  const response = await send("POST", `${url}/v2/serverless`, { key: apiKey, json });
  expectResponse(response, 201);
  return stringAt(response, "id");
}
