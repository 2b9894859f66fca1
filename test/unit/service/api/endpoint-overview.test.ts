import { expect, test } from "vitest";
import { endpointsOverview } from "../../../../service/api/endpoint-overview";
import { useResources } from "../resources/resources-rig";

const health = {
  jobs: { completed: 0, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
  workers: { idle: 0, running: 0, initializing: 0, ready: 0, throttled: 0, unhealthy: 0 },
};

test("an endpoint's own container appears without its template, and a volume with its name", () => {
  const resources = useResources();
  const view = { health: () => health, workers: () => [] };
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
