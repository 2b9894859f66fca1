import * as pulumi from "@pulumi/pulumi";
import { JobInvoke, ServerlessEndpoint, Template } from "pulumi-serverless-compute";

const config = new pulumi.Config();

const template = new Template("greeter", {
  // The same image runs on this machine and on the hosted service.
  imageName: config.get("image") ?? "greeter:1",
  containerDiskInGb: 5,
  env: { GREETING: "Hello" },
});

const endpoint = new ServerlessEndpoint("greeter", {
  templateId: template.id,
  gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"],
  workersMin: 0,
  workersMax: 1,
  idleTimeout: 5,
});

// On the hosted service, finding a worker and pulling the image takes minutes.
const greeting = new JobInvoke("greeter-answers", {
  endpointId: endpoint.id,
  input: { name: "world" },
  expect: { output: { text: "Hello, world!" } },
  timeout: 600,
  triggers: [template.revision],
});

export const url = endpoint.url;
export const answer = greeting.output;
