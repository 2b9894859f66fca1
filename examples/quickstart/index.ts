import * as pulumi from "@pulumi/pulumi";
import { JobInvoke, NetworkVolume, Secret, ServerlessEndpoint } from "pulumi-serverless-compute";

const config = new pulumi.Config();

const token = new Secret("hub-token", { value: config.requireSecret("hubToken") });

const models = new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });

const endpoint = new ServerlessEndpoint("greeter", {
  imageName: "acme/greeter:1",
  containerDiskInGb: 5,
  env: { GREETING: "Hello", HUB_TOKEN: token.reference },
  gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"],
  networkVolumeId: models.id,
  workersMin: 0,
  workersMax: 1,
  idleTimeout: 5,
});

// The deployment fails if the output differs. The job runs again whenever the workers change.
const greeting = new JobInvoke("greeter-answers", {
  endpointId: endpoint.id,
  input: { name: "world" },
  expect: { output: { text: "Hello, world!" } },
  triggers: [endpoint.revision],
});

export const url = endpoint.url;
export const answer = greeting.output;
