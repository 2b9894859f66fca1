import { expect, onTestFinished, test } from "vitest";
import { json, startFaultyServer } from "../../../support/faulty-server";
import { setEnvironment } from "./job-service";
import { command } from "./terminal";

test("jobs prints the message of an SDK's error without its traceback", async () => {
  const error = JSON.stringify({ error_type: "<class 'ValueError'>", error_message: "no model", error_traceback: "x" });
  const { origin, close } = await startFaultyServer(({ url }) =>
    url.startsWith("/v2/serverless")
      ? json({ endpoints: [{ id: "ep1", name: "chat", workers: {}, scaling: { type: "QUEUE_DELAY", queueDelay: 4 } }] })
      : json({ requests: [{ id: "j1", status: "FAILED", executionTime: 7, error }] }),
  );
  onTestFinished(close);
  setEnvironment({ SERVERLESS_COMPUTE_API_KEY: "k".repeat(32), SERVERLESS_COMPUTE_URL: origin });
  const { out } = await command(["jobs", "chat"]);
  expect(out).toMatch(/^j1 +FAILED +7 ms +no model$/m);
});
