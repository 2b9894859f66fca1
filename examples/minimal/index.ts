import { ServerlessEndpoint, Template } from "pulumi-serverless-compute";

const template = new Template("echo", { imageName: "acme/echo:1" });
const endpoint = new ServerlessEndpoint("echo", { templateId: template.id, workersMax: 1 });

export const url = endpoint.url;
