import { afterAll, describe, expect, test } from "vitest";
import { type Controller, v1Controllers, v2Controllers } from "../../../../service/api/management/controllers";
import { executeGraphql } from "../../../../service/api/management/graphql";
import { createPager } from "../../../../service/api/management/pages";
import { type Fields, freshName } from "../../../support/local-service";
import { propertyTable } from "../../../support/properties";
import { type Api, apis, type Kind, kinds } from "../../../support/properties/property";
import { at } from "../../../support/raw-http";
import { useResources } from "./resources-rig";

const resources = useResources({}, afterAll);
const registry = (): string =>
  resources.registryAuths.create({ name: freshName("registry"), username: "reader", password: "hush-hush" }).id;
const table = propertyTable({
  templates: [resources.template(), resources.template()],
  volumes: [resources.volume(), resources.volume(), resources.volume()],
  registries: [registry(), registry()],
});

const v1 = v1Controllers(resources, { deleteNeedsScaleDown: false, workers: () => [] });
const v2 = v2Controllers({ resources, pager: createPager(1), serverlessUrl: () => "" });
/** Executes a mutation; returns the id of the object. */
async function save(mutation: string, type: string, input: Fields): Promise<string> {
  const query = `mutation ($input: ${type}!) { ${mutation}(input: $input) { id } }`;
  const deps = { resources, log: { error: () => undefined }, deleteNeedsScaleDown: false, requireKey: undefined };
  const { body } = await executeGraphql({ query, variables: { input } }, deps);
  const response: unknown = JSON.parse(JSON.stringify(body));
  expect(at(response, "errors")).toBeUndefined();
  return String(at(response, "data", mutation, "id"));
}

type Save = (fields: Fields, id?: string) => Promise<string> | string;
const templateId = resources.template();
const image = "acme/chat:1";
const v2Endpoint = {
  type: "QUEUE",
  gpu: { pools: ["AMPERE_24"] },
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  image,
};
function controlled(controller: Pick<Controller, "create" | "update"> | undefined, required: () => Fields): Save {
  return (fields, id) => {
    const sent = id === undefined ? controller?.create({ ...required(), ...fields }) : controller?.update?.(id, fields);
    return String(at(sent, "id"));
  };
}

/** Creates an object with fields, or changes the fields of the object with an id. */
const saves: Record<Kind, Record<Api, Save>> = {
  template: {
    v1: controlled(v1["/templates"], () => ({
      name: freshName("t"),
      imageName: image,
      isServerless: true,
      volumeInGb: 0,
    })),
    v2: controlled(v2["/templates"], () => ({ name: freshName("t"), image, serverless: true })),
    graphql: (fields, id) =>
      save("saveTemplate", "SaveTemplateInput", {
        ...{ name: freshName("t"), imageName: image, containerDiskInGb: 5, volumeInGb: 0, isServerless: true },
        ...{ id, ...fields },
      }),
  },
  endpoint: {
    v1: controlled(v1["/endpoints"], () => ({ templateId })),
    v2: controlled(v2["/serverless"], () => ({ name: "e", ...v2Endpoint })),
    graphql: (fields, id) => save("saveEndpoint", "EndpointInput", { name: "e", templateId, id, ...fields }),
  },
};

describe.each(kinds)("workers are outdated after a change of what they run: a %s's", (kind) => {
  const rows = table[kind].map((property) => ({ title: property.name, ...property }));
  test.each(rows)("$title", async ({ title, values, write, base, restarts }) => {
    const [first, second] = values;
    for (const api of apis) {
      const fields = write[api];
      if (fields === undefined) continue;
      const id = await saves[kind][api]({ ...base[api], ...fields(first) });
      const endpointId = kind === "endpoint" ? id : resources.endpoints.create({ templateId: id }).id;
      const seen: boolean[] = [];
      const listener = (_id: string, { workersRestart }: { workersRestart: boolean }) => seen.push(workersRestart);
      resources.events.on("endpointChanged", listener);
      const { version } = resources.endpoints.get(endpointId);
      await saves[kind][api]({ ...(api === "graphql" && base.graphql), ...fields(second) }, id);
      resources.events.off("endpointChanged", listener);
      expect(seen.includes(true), api).toBe(restarts);
      const isNewVersion = resources.endpoints.get(endpointId).version > version;
      // The other template has the same content.
      if (title !== "templateId")
        expect((resources.releases(endpointId)[0]?.diff ?? []).length > 0, `release of ${api}`).toBe(isNewVersion);
      resources.endpoints.remove(endpointId, { needsScaleDown: false });
      if (kind === "template") resources.templates.remove(id);
    }
  });
});
