import { describe, expect, test } from "vitest";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";

const bench = await useLifecycleBench();
const templateId = await bench.create("/templates", { name: "base", imageName: "a:1", isServerless: true });

describe("an update does not change", () => {
  const others = {
    isPublic: true,
    category: "AMD",
    startJupyter: true,
    startSsh: true,
    startScript: "echo hi",
    advancedStart: true,
    portsConfig: [{ name: "web" }],
    config: { a: 1 },
  };

  test("fields of a template that other clients set by GraphQL or REST", async () => {
    const { Template } = kinds;
    const inputs = Template.check({}, { imageName: "a:1" }, naming("others-dev")).inputs;
    const { id, outputs } = await Template.create(inputs, bench.context());
    const input = {
      id,
      name: "others-dev",
      imageName: "a:1",
      containerDiskInGb: 50,
      volumeInGb: 0,
      dockerArgs: "",
      env: [],
      isServerless: true,
      ...others,
    };
    await bench.graphql("mutation ($input: SaveTemplateInput!) { saveTemplate(input: $input) { id } }", { input });
    await bench.rest("PATCH", `/templates/${id}`, { dockerEntrypoint: ["/start"] });
    const news = Template.check(inputs, { imageName: "a:1", containerDiskInGb: 7 }, naming("others-dev")).inputs;
    await Template.update(id, outputs, news, bench.context());
    expect((await bench.rest("GET", `/templates/${id}`)).json).toMatchObject({
      ...others,
      containerDiskInGb: 7,
      dockerEntrypoint: ["/start"],
    });
  });

  test("the environment of an endpoint and fields that only GraphQL can set", async () => {
    const { ServerlessEndpoint } = kinds;
    const inputs = ServerlessEndpoint.check({}, { templateId }, naming("others-dev")).inputs;
    const { id, outputs } = await ServerlessEndpoint.create(inputs, bench.context());
    const input = {
      id,
      name: "others-dev",
      templateId: String(inputs["templateId"]),
      env: [{ key: "A", value: "1" }],
      modelReferences: ["m"],
    };
    await bench.graphql("mutation ($input: EndpointInput!) { saveEndpoint(input: $input) { id } }", { input });
    const news = ServerlessEndpoint.check(inputs, { templateId, workersMax: 8 }, naming("others-dev")).inputs;
    await ServerlessEndpoint.update(id, outputs, news, bench.context());
    expect((await bench.rest("GET", `/endpoints/${id}`)).json).toMatchObject({
      env: { A: "1" },
      modelReferences: ["m"],
      workersMax: 8,
    });
  });
});
