import { JobInvoke, ServerlessEndpoint, Template } from "pulumi-serverless-compute";

const template = new Template("counter", { imageName: "acme/counter:1" });
const endpoint = new ServerlessEndpoint("counter", { templateId: template.id, workersMax: 1 });

const count = new JobInvoke("counter-answers", {
  endpointId: endpoint.id,
  input: { text: "three short words" },
  expect: { output: { words: 3 } },
  triggers: [template.revision],
});

export const url = endpoint.url;
export const answer = count.output;
