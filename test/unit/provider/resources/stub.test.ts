import { expect, it } from "vitest";
import { propertyNames } from "../../../../provider/generated/property-names";
import { stubText, typeToken } from "../../../../provider/resources/registration";

/**
 * Every text that ever landed in a state, with the type it landed under. Add lines for new kinds; change or remove
 * none, or the stacks that hold it can no longer be refreshed and destroyed.
 */
const shipped = {
  Template: {
    text: 'exports.handler=()=>require("pulumi-serverless-compute/dynamic").provider("Template")',
    type: "pulumi-nodejs:dynamic/serverless:Template",
  },
  ServerlessEndpoint: {
    text: 'exports.handler=()=>require("pulumi-serverless-compute/dynamic").provider("ServerlessEndpoint")',
    type: "pulumi-nodejs:dynamic/serverless:ServerlessEndpoint",
  },
  NetworkVolume: {
    text: 'exports.handler=()=>require("pulumi-serverless-compute/dynamic").provider("NetworkVolume")',
    type: "pulumi-nodejs:dynamic/serverless:NetworkVolume",
  },
  Secret: {
    text: 'exports.handler=()=>require("pulumi-serverless-compute/dynamic").provider("Secret")',
    type: "pulumi-nodejs:dynamic/serverless:Secret",
  },
  ContainerRegistryAuth: {
    text: 'exports.handler=()=>require("pulumi-serverless-compute/dynamic").provider("ContainerRegistryAuth")',
    type: "pulumi-nodejs:dynamic/serverless:ContainerRegistryAuth",
  },
  JobInvoke: {
    text: 'exports.handler=()=>require("pulumi-serverless-compute/dynamic").provider("JobInvoke")',
    type: "pulumi-nodejs:dynamic/serverless:JobInvoke",
  },
};

it.each(Object.entries(shipped))("the text that a %s stores in state is frozen", (kind, { text, type }) => {
  expect({ text: stubText(kind), type: typeToken(kind) }).toEqual({ text, type });
});

it("every kind's text is frozen", () => {
  expect(Object.keys(propertyNames).sort()).toEqual(Object.keys(shipped).sort());
});
