import fc from "fast-check";
import { isApiError } from "serverless-compute-api";
import { expect, test } from "vitest";
import { startRig } from "../../support/client-rig";
import { type Behaviour, json } from "../../support/faulty-server";
import { volumeRecord } from "../../support/records";

/** Key of this file's clients only. */
const apiKey = "sck_CROWD+/key&42";

const fault = fc.constantFrom<Behaviour[]>(
  { action: "hang up" },
  { action: "hang up unread" },
  { action: "reset" },
  { action: "respond", status: 500 },
  { action: "respond", status: 503 },
  { action: "respond", status: 429 },
  { action: "respond", status: 429, headers: { "retry-after": "2" } },
  { action: "truncate", status: 200, body: '{"id":"v"}' },
  json({ id: "v" }),
);

test("with many calls and random faults, every call ends and no create is sent twice if it may have been applied", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { minLength: 60, maxLength: 60 }), async (faults) => {
      const created = new Map<string, number>();
      const { clients, result, requests } = await startRig(
        ({ method, body }, count) => {
          const behaviour = faults[count % 120] ?? json(method === "POST" ? volumeRecord() : [volumeRecord()]);
          // Only a 429 guarantees that the request had no effect.
          const refused = behaviour.action === "respond" && behaviour.status === 429;
          if (method === "POST" && !refused) created.set(body, (created.get(body) ?? 0) + 1);
          return behaviour;
        },
        { maxInFlight: 5, apiKey },
      );
      const creates = Array.from({ length: 20 }, (_, index) =>
        clients.management.createNetworkVolume({ name: `v${index}`, size: 1, dataCenterId: "EU" }),
      );
      const reads = Array.from({ length: 20 }, () => clients.management.listNetworkVolumes());
      const outcomes = await result(Promise.allSettled([...creates, ...reads]));
      expect([...created.values()].filter((times) => times > 1)).toEqual([]);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(isApiError(outcome.reason), String(outcome.reason)).toBe(true);
      }
      // A client of another file may call the port, which an earlier server used.
      const own = requests.filter(({ headers }) => headers.authorization === `Bearer ${apiKey}`);
      expect(own.length).toBeGreaterThanOrEqual(40);
      expect(own.length).toBeLessThanOrEqual(clients.requestCount());
    }),
    { numRuns: 15 },
  );
}, 60_000);
