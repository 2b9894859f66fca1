import { expect, test } from "vitest";
import { endpointsOverview } from "../../../../service/api/endpoint-overview";
import { useResources } from "../resources/resources-rig";

const health = (inQueue: number) => ({
  jobs: { completed: 0, failed: 0, inProgress: 0, inQueue, retried: 0 },
  workers: { idle: 0, running: 0, initializing: 0, ready: 0, throttled: 0, unhealthy: 0 },
});

test.each([
  [0, ["running"], 1, undefined],
  [1, [], 1, undefined],
  [1, ["initializing"], 1, undefined],
  [1, ["running"], 2, undefined],
  [1, ["idle", "running"], 2, undefined],
  [1, ["running"], 1, "the only worker is busy, and workersMax is 1; 1 job waits"],
  [2, ["running"], 0, "the only worker is busy, and workersMax is 0; 2 jobs wait"],
  [2, ["running", "running"], 2, "all 2 workers are busy, and workersMax is 2; 2 jobs wait"],
])("%i waiting jobs and the workers %j with workersMax %i: the hint is %s", (inQueue, statuses, workersMax, hint) => {
  const resources = useResources();
  resources.endpoints.create({ name: "e", templateId: resources.template(), workersMax });
  const running = statuses.map((status, index) => ({ id: `w${index}`, status, startedAt: 0 }));
  const view = { health: () => health(inQueue), workers: () => running };
  expect(endpointsOverview(resources, view)).toMatchObject([{ hint, running, jobs: { inQueue } }]);
});

test("an endpoint's own container appears without its template, and a volume with its name", () => {
  const resources = useResources();
  const view = { health: () => health(0), workers: () => [] };
  const networkVolumeId = resources.volume();
  const id = resources.endpoints.newId();
  const bound = resources.template({ boundEndpointId: id, imageName: "acme/own:1" });
  resources.endpoints.create({ name: "own", templateId: bound, networkVolumeId }, id);
  const shared = resources.template({ name: "chat", imageName: "acme/chat:2" });
  resources.endpoints.create({ name: "shared", templateId: shared });
  const [own, other] = endpointsOverview(resources, view);
  expect(own).toMatchObject({ template: undefined, imageName: "acme/own:1", volumes: ["models"] });
  expect(other).toMatchObject({ template: { id: shared, name: "chat" }, imageName: "acme/chat:2", volumes: [] });
});
