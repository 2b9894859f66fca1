import { ServerlessEndpoint, Template } from "pulumi-serverless-compute";

/** The program under test: a stack and a test can both run it. */
export async function program() {
  const template = new Template("chat", { imageName: "acme/chat:1", env: { GREETING: "Hello" } });
  const endpoint = new ServerlessEndpoint("chat", { templateId: template.id, workersMax: 1, idleTimeout: 1 });
  return { url: endpoint.url, endpointId: endpoint.id };
}
