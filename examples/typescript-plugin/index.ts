import * as pulumi from "@pulumi/pulumi";
import * as serverless from "pulumi-serverless-compute-sdk";

const config = new pulumi.Config();

const token = new serverless.Secret("hub-token", { value: config.requireSecret("hubToken") });

const models = new serverless.NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });

const template = new serverless.Template("template", {
  imageName: "acme/echo:1",
  containerDiskInGb: 5,
  env: { MODEL: "small", HUB_TOKEN: token.reference },
});

const endpoint = new serverless.ServerlessEndpoint("chat", {
  templateId: template.id,
  networkVolumeId: models.id,
  workersMax: 1,
});

// The deployment fails if the output differs. The job runs again whenever the workers change.
const answers = new serverless.JobInvoke("answers", {
  endpointId: endpoint.id,
  input: { text: "pong" },
  expect: { output: { text: "pong" } },
  triggers: [template.revision],
});

export const url = endpoint.url;
export const answer = answers.output;
