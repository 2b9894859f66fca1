import { setTimeout as delay } from "node:timers/promises";
import runpod from "runpod-sdk";
import { describeFaults } from "./fault-suite";
import { versions } from "./versions";

const input = { text: "ping" };

describeFaults(
  `npm runpod-sdk ${versions.javascriptSdk}: under injected faults`,
  "npm `runpod-sdk`",
  {
    succeeds: { text: /^COMPLETED$/, job: "completed" },
    "throws 429, no job": { text: /^Error: Request failed with status code 429$/, job: undefined },
    "throws 500, no job": { text: /^Error: Request failed with status code 500$/, job: undefined },
    "throws `fetch failed`; the job runs": { text: /^TypeError: fetch failed$/, job: "completed" },
    "throws 429": { text: /^Error: Request failed with status code 429$/, job: "completed" },
    "throws 500": { text: /^Error: Request failed with status code 500$/, job: "completed" },
    "throws `fetch failed`": { text: /^TypeError: fetch failed$/, job: "completed" },
    "returns `FAILED`": { text: /^FAILED$/, job: "failed" },
    "returns `IN_QUEUE` at its timeout": { text: /^IN_QUEUE$/, job: "inQueue" },
  },
  ({ service }) => {
    const endpointOf = (id: string) => {
      const endpoint = runpod(service.apiKey, { baseUrl: `${service.serverlessUrl}/v2` }).endpoint(id);
      if (!endpoint) throw new Error("the SDK created no endpoint");
      return endpoint;
    };
    const submitted = new Map<string, string>();
    return {
      async submit(endpointId) {
        const { id } = await endpointOf(endpointId).run({ input });
        submitted.set(endpointId, id);
      },
      async follow(endpointId, timeout) {
        for (const end = Date.now() + timeout * 1000; ; await delay(50)) {
          const { status, completed } = Object(await endpointOf(endpointId).status(submitted.get(endpointId) ?? ""));
          if (completed || Date.now() > end) return String(status);
        }
      },
      sync: async (endpointId, timeout) =>
        String((await endpointOf(endpointId).runSync({ input }, timeout * 1000)).status),
    };
  },
);
