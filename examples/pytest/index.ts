import { ServerlessEndpoint, Template } from "pulumi-serverless-compute";

const template = new Template("chat", { imageName: "acme/chat:1", env: { GREETING: "Hello" } });
const endpoint = new ServerlessEndpoint("chat", { templateId: template.id, workersMax: 1, idleTimeout: 1 });

export const url = endpoint.url;
export const endpointId = endpoint.id;
