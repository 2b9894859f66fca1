import * as pulumi from "@pulumi/pulumi";
import { ServerlessEndpoint, Template } from "pulumi-serverless-compute";

const config = new pulumi.Config();

/** The provider of dynamic resources, with settings of its own instead of the stack's. */
class Account extends pulumi.ProviderResource {}

const accounts = Object.fromEntries(
  ["east", "west"].map((name) => [
    name,
    new Account("pulumi-nodejs", name, { "serverless-compute:apiKey": config.requireSecret(`${name}Key`) }),
  ]),
);

export const ids = Object.entries(accounts).map(([name, provider]) => {
  const template = new Template(name, { imageName: "acme/echo:1" }, { provider });
  return new ServerlessEndpoint(name, { templateId: template.id, workersMax: 1 }, { provider }).id;
});
