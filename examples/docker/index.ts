import * as pulumi from "@pulumi/pulumi";
import { JobInvoke, ServerlessEndpoint, Template } from "pulumi-serverless-compute";

const config = new pulumi.Config();

const template = new Template("greeter", {
  // What runs on this machine and what runs on the hosted service is the same image.
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

// The first worker has to be found and its image pulled, which takes minutes on the hosted service.
const greeting = new JobInvoke("greeter-answers", {
  endpointId: endpoint.id,
  input: { name: "world" },
  expect: { output: { text: "Hello, world!" } },
  timeout: 600,
  triggers: [template.revision],
});

export const url = endpoint.url;
export const answer = greeting.output;
