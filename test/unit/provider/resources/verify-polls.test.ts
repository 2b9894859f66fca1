import { expect, test } from "vitest";
import { kinds } from "../../../../provider/resources";
import { checkedInputs } from "../../../../provider/resources/serverless-endpoint/inputs";
import { verifyEndpoint } from "../../../../provider/resources/serverless-endpoint/verification";
import { startRig } from "../../../support/client-rig";
import { json } from "../../../support/faulty-server";
import { naming } from "../../../support/naming";
import { quietContext } from "../../../support/quiet-context";

const count = 100;

test(`${count} endpoints that verify concurrently all succeed, with at most 90 polls per minute`, async () => {
  /** Times of worker polls. */
  const polls: number[] = [];
  const startTimes = new Map<string, number>();
  // Each endpoint immediately has a worker of the new version, which runs a job in two seconds.
  const { clients, clock } = await startRig(
    ({ url }) => {
      const endpoint = /\/(e\d+)\//.exec(url)?.[1] ?? "";
      if (url.endsWith("/workers")) {
        polls.push(clock.now());
        const worker = { id: `w-${endpoint}`, status: "RUNNING", isStale: false, gpuCount: 1 };
        return json({ workers: [worker], summary: {}, endpointVersion: 2 });
      }
      if (url.endsWith("/run")) {
        startTimes.set(endpoint, clock.now());
        return json({ id: `j-${endpoint}`, status: "IN_QUEUE" });
      }
      const isOver = clock.now() - (startTimes.get(endpoint) ?? 0) >= 2000;
      const done = { status: "COMPLETED", workerId: `w-${endpoint}`, output: { text: "pong" } };
      return json({ id: `j-${endpoint}`, ...(isOver ? done : { status: "IN_PROGRESS" }) });
    },
    { dialect: "v2", maxInFlight: count },
  );
  const verify = { input: { text: "pong" }, expect: { output: { text: "pong" } }, timeout: 10 };
  const inputs = { name: "chat", templateId: "t", workersMax: 1, verify };
  const { verify: verification } = checkedInputs.parse(kinds.ServerlessEndpoint.check({}, inputs, naming()).inputs);
  if (!verification) throw new Error("no verification");
  let remaining = count;
  const verdicts = Array.from({ length: count }, async (_, index) => {
    try {
      await verifyEndpoint(
        `e${index}`,
        { workersMax: 1, verify: verification },
        undefined,
        quietContext({ clients, clock }),
      );
      return "verified";
    } catch (error) {
      return String(error);
    } finally {
      remaining--;
    }
  });
  while (remaining > 0) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    // The clock does not advance while requests are in flight.
    if (clock.waiting >= remaining) await clock.advance(50);
  }
  expect(new Set(await Promise.all(verdicts))).toEqual(new Set(["verified"]));
  for (const [index, at] of polls.entries()) {
    const earlier = polls[index - 90];
    if (earlier !== undefined) expect(at - earlier).toBeGreaterThanOrEqual(60_000);
  }
});
