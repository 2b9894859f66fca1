import { expect, test } from "vitest";
import { waitReason } from "../../../../service/workers/health";

const lack = "no stock of NVIDIA L4, so no worker starts";
const unhealthy = "worker w1 is unhealthy: no GPU";
const byDelay = { type: "QB", scalerType: "QUEUE_DELAY", scalerValue: 4 } as const;
const byCount = { type: "QB", scalerType: "REQUEST_COUNT", scalerValue: 3 } as const;
const balancer = { type: "LB" } as const;
const nothing = { noStock: undefined, unhealthy: undefined, mayStartWorkers: true };
const workers = { idle: 0, running: 0, initializing: 0 };
const low = "only low-priority jobs wait, and they start no worker; other jobs or workersMin start one";

test.each([
  [{}, 1, {}, undefined],
  [{ initializing: 1 }, 1, {}, undefined],
  [{ idle: 1, running: 2 }, 2, {}, undefined],
  [{ running: 1 }, 1, {}, "the only worker is busy, and workersMax is 1"],
  [{ running: 1 }, 0, {}, "the only worker is busy, and workersMax is 0"],
  [{ running: 2 }, 2, {}, "all 2 workers are busy, and workersMax is 2"],
  [
    { running: 1 },
    2,
    {},
    "the only worker is busy; QUEUE_DELAY starts another once a job has waited for 4 s (scalerValue)",
  ],
  [
    { running: 1 },
    2,
    balancer,
    "the only worker is busy; QUEUE_DELAY starts another once a request has waited for 4 s (scalerValue)",
  ],
  [
    { running: 2 },
    3,
    byCount,
    "all 2 workers are busy; REQUEST_COUNT starts one worker per 3 waiting or running jobs (scalerValue)",
  ],
  [
    { running: 1 },
    2,
    { ...byCount, scalerValue: 1 },
    "the only worker is busy; REQUEST_COUNT starts one worker per waiting or running job (scalerValue)",
  ],
  [
    { running: 1 },
    2,
    { ...byCount, ...balancer },
    "the only worker is busy; REQUEST_COUNT starts one worker per 3 waiting or running requests (scalerValue)",
  ],
  [{}, 0, {}, "workersMax is 0, so no worker starts"],
  [{}, 1, { noStock: lack }, lack],
  [{ running: 1 }, 2, { noStock: lack }, lack],
  [{ running: 2 }, 2, { noStock: lack }, "all 2 workers are busy, and workersMax is 2"],
  [{ idle: 1 }, 2, { noStock: lack }, undefined],
  [{}, 1, { mayStartWorkers: false }, low],
  [{ running: 1 }, 2, { mayStartWorkers: false }, low],
  [{ initializing: 1 }, 2, { mayStartWorkers: false }, undefined],
  [{}, 1, { unhealthy }, unhealthy],
  [{ running: 1 }, 1, { unhealthy }, "the only worker is busy, and workersMax is 1"],
])("the workers %j with workersMax %i and %j: jobs wait because %s", (some, workersMax, facts, reason) => {
  const rules = { workersMax, ...byDelay, ...facts };
  expect(waitReason({ ...nothing, ...facts, workers: { ...workers, ...some }, rules })).toBe(reason);
});

test("jobs wait with a reason in every state without idle and starting workers, except before the start of the first", () => {
  const counts = [0, 1, 2];
  const facts = [
    nothing,
    { ...nothing, noStock: lack },
    { ...nothing, unhealthy },
    { ...nothing, mayStartWorkers: false },
  ];
  for (const running of counts)
    for (const workersMax of counts)
      for (const fact of facts)
        for (const scaling of [byDelay, byCount, { ...byCount, ...balancer, scalerValue: 1 }]) {
          const state = { ...fact, workers: { ...workers, running }, rules: { workersMax, ...scaling } };
          const isStarting = running === 0 && workersMax > 0 && fact === nothing;
          expect(waitReason(state) === undefined, JSON.stringify(state)).toBe(isStarting);
        }
});
