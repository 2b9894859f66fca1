import * as pulumi from "@pulumi/pulumi";
import { ContainerRegistryAuth, NetworkVolume, ServerlessEndpoint, Template } from "pulumi-serverless-compute";

const config = new pulumi.Config();

const registry = new ContainerRegistryAuth("ghcr", {
  username: config.require("registryUser"),
  password: config.requireSecret("registryPassword"),
});

// Shared by the endpoint's workers, and independent of their life.
const models = new NetworkVolume("models", { size: 100, dataCenterId: "EU-RO-1" });

const template = new Template("chat", {
  imageName: "ghcr.io/acme/chat:1.4.2",
  containerRegistryAuthId: registry.id,
  env: { HF_HOME: "/runpod-volume/huggingface", MODEL: "mistral-7b" },
});

const endpoint = new ServerlessEndpoint("chat", {
  templateId: template.id,
  networkVolumeId: models.id,
  gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"],
  workersMax: 2,
});

export const url = endpoint.url;
