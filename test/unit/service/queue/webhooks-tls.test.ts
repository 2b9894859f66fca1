import { readFile } from "node:fs/promises";
import { globalAgent } from "node:https";
import { expect, onTestFinished, test } from "vitest";
import { scratchFolder } from "../../../support/folders";
import { startTlsProxy } from "../../../support/tls-proxy";
import { end, pendingCount, receiver, useWebhooks, waitForBodies } from "./support/webhooks-rig";

test("an https address receives its notification only if its certificate is trusted", async () => {
  const folder = scratchFolder();
  const { url, bodies } = await receiver(200);
  const proxy = await startTlsProxy(url, folder);
  onTestFinished(proxy.close);
  const lines: unknown[] = [];
  const record = (...line: unknown[]): void => void lines.push(line);
  const rig = useWebhooks();
  rig.start(rig.webhooks, { info: record, warn: record, error: record });
  const id = await end(rig, `${proxy.origin}/`);
  await expect.poll(() => JSON.stringify(lines), { interval: 5 }).toContain("self-signed certificate");
  expect([bodies.length, pendingCount(rig)]).toEqual([0, 1]);

  const { ca } = globalAgent.options;
  globalAgent.options.ca = await readFile(proxy.certificate);
  onTestFinished(() => {
    globalAgent.options.ca = ca;
  });
  await rig.clock.advance(10_000);
  await waitForBodies(bodies, 1);
  expect(JSON.parse(String(bodies[0]))).toMatchObject({ id, status: "COMPLETED", output: { a: 1 } });
  await expect.poll(() => pendingCount(rig), { interval: 5 }).toBe(0);
});
