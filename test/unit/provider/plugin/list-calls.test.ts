import { beforeAll, describe, expect, test } from "vitest";
import { Unknown } from "../../../../provider/engine/values";
import { listCalls } from "../../../../provider/plugin/list-calls";
import { resourceCalls } from "../../../../provider/plugin/resource-calls";
import { kinds, objectKinds } from "../../../../provider/resources";
import { connectedProcess } from "../../../support/configured-process";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { engineProperties } from "../../../support/property-sets";

const bench = await useLifecycleBench();
const hostOf = () => {
  const { clients, clock } = bench.context();
  return { ...connectedProcess(clients), clock };
};
const volumes: { id: string; name: string }[] = [];

beforeAll(async () => {
  for (const name of ["models-a", "models-b", "cache", "models-c", "models-d"]) {
    const id = await bench.create("/networkvolumes", { name, size: 10, dataCenterId: "EU-RO-1" });
    volumes.push({ id, name });
  }
  const image = { imageName: "a:1", isServerless: true };
  const templateId = await bench.create("/templates", { name: "chat", ...image });
  await bench.rest("POST", "/endpoints", { name: "chat", templateId, workersMax: 0 });
  await bench.graphql('mutation { secretCreate(input: { name: "token", value: "s3cr3t" }) { id } }');
  await bench.rest("POST", "/containerregistryauth", { name: "registry", username: "me", password: "whisper" });
  volumes.sort((a, b) => (a.id < b.id ? -1 : 1));
});

type ListOptions = Partial<Parameters<ReturnType<typeof listCalls>["list"]>[0]>;
const list = (kind: string, options: ListOptions = {}) =>
  listCalls(hostOf()).list({
    token: `serverless-compute:index:${kind}`,
    query: engineProperties({}),
    limit: 0,
    pageSize: 0,
    continuationToken: "",
    ...options,
  });

/** All pages of a list, and the objects on each. */
async function pagesOf(options: ListOptions): Promise<string[][]> {
  const pages: string[][] = [];
  for (let continuationToken = ""; ; ) {
    const messages = await list("NetworkVolume", { ...options, continuationToken });
    pages.push(messages.flatMap(({ result }) => result?.name ?? []));
    const next = messages.at(-1)?.continuation?.continuationToken;
    if (next === undefined) return pages;
    continuationToken = next;
  }
}
const names = (prefix = ""): string[] => volumes.map(({ name }) => name).filter((name) => name.startsWith(prefix));

describe("a list", () => {
  test.each(Object.keys(objectKinds))("of %s contains the id that Read accepts, and the name", async (kind) => {
    const [first] = await list(kind);
    const { id = "", name } = first?.result ?? {};
    const read = await resourceCalls(hostOf(), kinds).read({
      id,
      urn: `urn:pulumi:dev::shop::serverless-compute:index:${kind}::x`,
      timeout: 0,
      properties: engineProperties({}),
      inputs: engineProperties({}),
    });
    expect(read.id).toBe(id);
    expect(read.inputs?.properties["name"]).toBe(name);
  });

  test("contains all objects on one page, unless a page size or a limit is requested", async () => {
    expect(await pagesOf({})).toEqual([names()]);
    expect((await pagesOf({ pageSize: 2 })).map((page) => page.length)).toEqual([2, 2, 1]);
    expect((await pagesOf({ pageSize: 2 })).flat()).toEqual(names());
    expect(await pagesOf({ limit: 3 })).toEqual([names().slice(0, 3)]);
    expect((await pagesOf({ limit: 3, pageSize: 2 })).map((page) => page.length)).toEqual([2, 1]);
  });

  test("contains only objects whose names begin with namePrefix", async () => {
    const query = engineProperties({ namePrefix: "models-" });
    expect(await pagesOf({ query, pageSize: 3 })).toEqual([names("models-").slice(0, 3), names("models-").slice(3)]);
    expect(await list("NetworkVolume", { query: engineProperties({ namePrefix: "nothing" }) })).toEqual([]);
  });

  test("is unknown if its query is", async () => {
    const query = { properties: { namePrefix: Unknown.value }, secretPaths: [] };
    bench.drainRequests();
    expect(await list("NetworkVolume", { query })).toEqual([{ computed: {} }]);
    expect(bench.drainRequests()).toEqual([]);
  });

  test.each<[string, ListOptions, string]>([
    ["a kind without objects", { token: "serverless-compute:index:JobInvoke" }, "JobInvoke cannot be listed; this pr"],
    [
      "an unknown filter",
      { query: engineProperties({ prefix: "a" }) },
      "prefix: unknown list input; expected one of namePrefix",
    ],
    [
      "a prefix that is not a string",
      { query: engineProperties({ namePrefix: 1 }) },
      "namePrefix: is 1; must be a string",
    ],
    [
      "a token of another provider",
      { continuationToken: "page-2" },
      'continuationToken: "page-2" is not a valid list token',
    ],
  ])("rejects %s", async (_, options, message) => {
    await expect(list("Secret", options)).rejects.toThrow(message);
  });

  test("explains a missing permission", async () => {
    bench.proxy.inject({ method: "GET", path: /volumes/ }, { kind: "status", status: 403 });
    await expect(list("NetworkVolume")).rejects.toThrow("NetworkVolume: the API key is valid but lacks a permission");
  });
});
