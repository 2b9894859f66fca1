import { dialect } from "../../support/dialect";
import type { LifecycleBench } from "../../support/lifecycle-bench";
import { at, expectResponse, send, stringAt } from "../../support/raw-http";

/** Changes in the account that the provider does not make. */
export function byHand({ addresses: { baseUrl, apiKey: key }, create, listObjects, rest }: LifecycleBench) {
  let count = 0;
  const createTemplate = (imageName: string): Promise<string> =>
    create("/templates", { name: `by-hand-${++count}`, imageName, isServerless: true });
  return {
    /** Creates an endpoint with a template. */
    async createEndpoint(name: string, image: string, idleTimeout = 5): Promise<string> {
      return create("/endpoints", { name, templateId: await createTemplate(image), workersMax: 1, idleTimeout });
    },
    /** Creates an endpoint with its own settings instead of a template's (REST v2). */
    async createOwnEndpoint(name: string, image: string, idleTimeout = 5, env: object = {}): Promise<string> {
      const json = {
        name,
        image,
        env,
        type: "QUEUE",
        disk: 5,
        workers: { min: 0, max: 1, idleTimeout },
        gpu: { pools: ["ADA_24"], count: 1 },
        scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
      };
      return stringAt(await send("POST", `${baseUrl}/serverless`, { key, json }), "id");
    },
    /** Changes the image of an endpoint: in REST v2 its own copy, in REST v1 by another template. */
    async changeImage(id: string, image: string, how: "copy" | "template" = dialect === "v2" ? "copy" : "template") {
      const response =
        how === "copy"
          ? await send("PATCH", `${baseUrl}/serverless/${id}`, { key, json: { image } })
          : await rest("PATCH", `/endpoints/${id}`, { templateId: await createTemplate(image) });
      expectResponse(response, 200);
    },
    async changeIdleTimeout(id: string, idleTimeout: number): Promise<void> {
      expectResponse(await rest("PATCH", `/endpoints/${id}`, { idleTimeout }), 200);
    },
    /** Deletes all endpoints except one, such as those of killed creates. */
    async deleteOtherEndpoints(keptId: string | undefined): Promise<void> {
      for (const endpoint of await listObjects("endpoints")) {
        const id = String(at(endpoint, "id"));
        if (id !== keptId) await rest("DELETE", `/endpoints/${id}`);
      }
    },
  };
}
