import { afterAll, describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import type { Context } from "../../../../provider/framework/contract";
import { kinds } from "../../../../provider/resources";
import { contextAt } from "../../../faults/support/wrong-addresses";
import { json, startFaultyServer } from "../../../support/faulty-server";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";

const bench = await useLifecycleBench();

/** A context whose addresses begin with `origin` and lead to no API of the service. */
const contextAtAddress = (origin: string): Context =>
  contextAt(bench, origin, { baseUrl: `${origin}/v9`, graphqlUrl: `${origin}/graphqls` });

/** A server without our routes, which responds in JSON. */
const otherServer = await startFaultyServer(() => json({ message: "not found" }, 404), afterAll);

const kindsAndInputs: ["Template" | "ServerlessEndpoint" | "NetworkVolume" | "Secret", Properties][] = [
  ["Template", { imageName: "a:1" }],
  ["ServerlessEndpoint", { templateId: "aaaaaaaaaa" }],
  ["NetworkVolume", { size: 1, dataCenterId: "EU-RO-1" }],
  ["Secret", { value: "vvvv" }],
];

describe.each([
  ["an unknown path of the service", bench.addresses.serverlessUrl],
  ["a server that responds to every request with 404", otherServer.origin],
])("%s", (_, origin) => {
  describe.each(kindsAndInputs)("%s", (kind, news) => {
    const lifecycle = kinds[kind];
    const olds = lifecycle.check({}, news, naming("chat-dev")).inputs;
    const wrongAddress = new RegExp(
      `^${kind} "chat-dev": http://127\\.0\\.0\\.1:\\d+/.* is not an address of the service .*Check serverless-compute:url`,
    );

    test("fails a refresh instead of removing the object from the state", async () => {
      await expect(lifecycle.read("aaaaaaaaaa", olds, contextAtAddress(origin))).rejects.toThrow(wrongAddress);
    });

    test("fails a delete instead of leaving the object behind", async () => {
      await expect(lifecycle.delete("aaaaaaaaaa", olds, contextAtAddress(origin))).rejects.toThrow(wrongAddress);
    });

    test("fails a create", async () => {
      await expect(lifecycle.create(olds, contextAtAddress(origin))).rejects.toThrow(wrongAddress);
    });
  });
});
