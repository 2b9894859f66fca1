import { ServerlessEndpoint, Template } from "pulumi-serverless-compute";

const template = new Template("teller", { imageName: "acme/teller:1" });
const endpoint = new ServerlessEndpoint("teller", { templateId: template.id, workersMax: 1 });

export const url = endpoint.url;
