import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { type Properties, Unknown } from "../../../../provider/engine/values";
import { checkInputs } from "../../../../provider/framework/properties/check";
import { kinds } from "../../../../provider/resources";
import { jobInvokeInputs } from "../../../../provider/resources/job-invoke/inputs";
import { serverlessEndpointInputs } from "../../../../provider/resources/serverless-endpoint/inputs";
import { templateInputs } from "../../../../provider/resources/template/inputs";
import { naming } from "../../../support/naming";

const unknown = Unknown.value;
const { Template, NetworkVolume } = kinds;

/** Inputs with every default, without the record of those. */
function checked(shape: z.ZodObject, news: Properties): Properties {
  const { __defaults: _none, ...inputs } = checkInputs(shape, {}, news, naming("chat-dev")).inputs;
  return inputs;
}

const template = checked(templateInputs, { imageName: "acme/chat:1", env: { A: "1", B: "2" } });
const endpoint = checked(serverlessEndpointInputs, { templateId: "t1", gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"] });
const volume = checked(NetworkVolume.inputs, { size: 10, dataCenterId: "EU-RO-1" });
const job = checked(jobInvokeInputs, { endpointId: "e", input: { prompt: "ping" }, triggers: ["r1"] });

describe("the preview of a change", () => {
  const verify = { input: { prompt: "ping" } };

  test("keeps outputs known if the inputs determine them, or if no change affects them", () => {
    const outputs = {
      revision: "r",
      reference: "old",
      url: "u",
      version: 3,
      jobId: "j",
      status: "COMPLETED",
      output: null,
    };
    const unknownOf = (kind: keyof typeof kinds, olds: Properties, change: Properties): string[] => {
      const previewed = kinds[kind].previewOutputs({ ...outputs, ...olds }, { ...olds, ...change }, {});
      return Object.keys(previewed).filter((key) => previewed[key] === unknown);
    };
    expect(unknownOf("Template", template, { readme: "x" })).toEqual([]);
    expect(unknownOf("Template", template, { env: { A: "2" } })).toEqual([]);
    expect(unknownOf("Template", template, { env: { A: unknown } })).toEqual(["revision"]);
    expect(unknownOf("ServerlessEndpoint", endpoint, { workersMax: 9 })).toEqual(["version"]);
    expect(unknownOf("JobInvoke", job, { triggers: ["other"] })).toEqual([
      "jobId",
      "status",
      "output",
      "outputSha256",
      "outputSize",
      "delayTime",
      "executionTime",
    ]);
    expect(unknownOf("Secret", { name: "token", value: "v" }, { name: unknown })).toEqual(["name", "reference"]);
  });

  test.each<[string, keyof typeof kinds, Properties, string[]]>([
    ["sends a property again", "ServerlessEndpoint", { unconfirmed: ["workersMax"] }, ["version"]],
    ["verifies", "ServerlessEndpoint", { verify, unverified: { before: {} } }, ["version"]],
    ["sends a template again", "Template", { unconfirmed: ["env"] }, []],
    ["deletes duplicates", "ServerlessEndpoint", { duplicates: ["e2"] }, []],
  ])("of an equal program that %s leaves unknown what the update may alter", (_, kind, state, outputs) => {
    const program = { ...(kind === "Template" ? template : endpoint), ...("verify" in state ? { verify } : {}) };
    const previewed = kinds[kind].previewOutputs(
      { ...program, version: 3, revision: "r", ...state, url: "u" },
      program,
      {},
    );
    expect(Object.keys(previewed).filter((key) => previewed[key] === unknown)).toEqual(outputs);
  });

  test("contains null for absent inputs, the unknown part of a map, and no duplicates that the update deletes", () => {
    for (const olds of [undefined, { ...template, containerRegistryAuthId: "r1" }])
      expect(Template.previewOutputs(olds, template, {})["containerRegistryAuthId"]).toBeNull();
    const news = { ...template, env: { A: "1", B: unknown } };
    expect(Template.previewOutputs(template, news, {})["env"]).toEqual(news.env);
    expect(NetworkVolume.previewOutputs({ ...volume, duplicates: ["x"] }, volume, {})).not.toHaveProperty("duplicates");
  });
});
