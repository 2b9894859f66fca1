import { describe, expect, it } from "vitest";
import type { EngineProperties } from "../../../../provider/engine/engine-properties";
import { ResourceInitError } from "../../../../provider/framework/errors";
import { asSecret, bench, errorOf, internal } from "./box";

describe("the results of the verbs", () => {
  it("contain the internal inputs, because refresh and delete receive outputs only", async () => {
    const { provider } = bench();
    const inputs = { ...internal, size: 1 };
    const created = await provider.create(inputs);
    const updated = await provider.update("box-1", inputs, inputs);
    const read = await provider.read("box-1", inputs);
    expect(created).toEqual({ id: "box-1", outs: { ...inputs, echo: "heard" } });
    expect(updated).toEqual({ outs: { ...inputs, echo: "heard again" } });
    expect(read).toEqual({ id: "box-1", props: { ...inputs, echo: "heard" }, inputs });
  });

  it("mark the kind's secrets, also in the inputs of a read", async () => {
    const { provider } = bench();
    const inputs = { ...internal, pin: "4711" };
    expect((await provider.create(inputs)).outs).toMatchObject({ pin: asSecret("4711"), echo: "heard" });
    expect(await provider.read("box-1", inputs)).toMatchObject({
      props: { pin: asSecret("4711") },
      inputs: { pin: asSecret("4711") },
    });
  });

  it("mark values derived from an input that the program made secret", async () => {
    const { provider } = bench();
    const { outs } = await provider.create({ ...internal, note: { a: "x" }, __secrets: [["note", "a"]] });
    expect(outs).toMatchObject({ echo: asSecret("heard") });
  });

  it("report a deleted object by an empty id", async () => {
    const { provider } = bench({ read: async () => undefined });
    expect(await provider.read("box-1", { ...internal })).toEqual({ id: "", props: {} });
  });
});

it.each(["create", "read", "failed create"])(
  "a value that only the service has set is not in the errors after a %s",
  async (operation) => {
    const reported = { ...internal, env: { A: "mine", TOKEN: "foreign-4711" } };
    const program = { ...internal, env: { A: "mine" } };
    const { provider } = bench({
      options: { env: { foreignSecret: true } },
      create: async () => {
        if (operation === "create") return { id: "box-1", outputs: reported };
        throw new ResourceInitError("unfinished", "box-1", reported);
      },
      read: async (id) => ({ id, inputs: reported, outputs: reported }),
      update: async () => Promise.reject(new Error("env: foreign-4711 is too long")),
      delete: async () => Promise.reject(new Error("env: foreign-4711 is in use")),
    });
    const outputs = async (): Promise<EngineProperties> => {
      if (operation === "create") return (await provider.create(program)).outs;
      if (operation === "read") return (await provider.read("box-1", program)).props;
      return Object.assign({ properties: {} }, await errorOf(() => provider.create(program))).properties;
    };
    // The engine sends the values of secrets as plain text.
    const state = { ...(await outputs()), env: reported.env };
    const update = await errorOf(() => provider.update("box-1", state, program));
    const deletion = await errorOf(() => provider.delete("box-1", state));
    expect([update.message, deletion.message]).toEqual(["env: [secret] is too long", "env: [secret] is in use"]);
  },
);

describe("a lookup by id", () => {
  it("fails for a missing object, because the engine would accept an empty result", async () => {
    const { provider } = bench({ read: async () => undefined });
    const error = await errorOf(() => provider.read("box-9", { ...internal, __existing: true }));
    expect(error.message).toBe(
      'Box "box-9": does not exist; pass the id (not the name) of a Box in the account of the API key',
    );
  });

  it("stores its secrets in state, and a later refresh detects a deletion", async () => {
    const results = [{ inputs: {}, outputs: { pin: "4711" } }, undefined];
    const { provider } = bench({ read: async () => results.shift() });
    const lookup = await provider.read("box-1", { ...internal, __existing: true });
    const lookupInputs = { ...internal, __existing: true };
    expect(lookup).toEqual({
      id: "box-1",
      props: { ...lookupInputs, pin: asSecret("4711"), __secrets: [["pin"]] },
      inputs: lookupInputs,
    });
    expect(await provider.read("box-1", { ...lookup.props, pin: "4711" })).toEqual({ id: "", props: {} });
  });
});

describe("a verb", () => {
  it("receives the user's timeout", async () => {
    const timeouts: unknown[] = [];
    const { provider } = bench({
      create: async (inputs, { timeout }) => {
        timeouts.push(timeout);
        return { id: "box-1", outputs: inputs };
      },
      read: async (_id, olds, { timeout }) => {
        timeouts.push(timeout);
        return { inputs: olds, outputs: olds };
      },
      delete: async (_id, _olds, { timeout }) => void timeouts.push(timeout),
    });
    const props = { ...internal, __timeouts: { create: "1h30m", update: "2s", read: "3m" } };
    await provider.create(props);
    await provider.read?.("box-1", props);
    await provider.delete("box-2", props);
    // Zero means no timeout, as for every provider.
    await provider.delete("box-2", { ...internal, __timeouts: { delete: "0s" } });
    expect(timeouts).toEqual([5_400_000, 180_000, undefined, undefined]);
  });

  it.each<[text: string, timeout: number | undefined]>([
    ["90s", 90_000],
    ["1.5m", 90_000],
    ["1h15m30.918s", 4_530_918],
    ["+250ms", 250],
    [".5s", 500],
    ["5.s", 5000],
    ["1us", 0.001],
    ["1\u00b5s", 0.001],
    ["1\u03bcs", 0.001],
    ["5000000ns", 5],
    ["0", undefined],
    ["-0", undefined],
    ["0h0m", undefined],
    ["-5s", undefined],
  ])("has the timeout %s, as with the plugin, to which the engine sends parsed durations", async (text, timeout) => {
    const timeouts: unknown[] = [];
    const { provider } = bench({ delete: async (_id, _olds, context) => void timeouts.push(context.timeout) });
    await provider.delete("box-1", { ...internal, __timeouts: { delete: text } });
    expect(timeouts).toEqual([timeout]);
  });

  it("reports its progress on the resource's own line, with secrets redacted", async () => {
    const { provider, messages } = bench({ delete: async (_id, _olds, { progress }) => progress("sawing 4711 open") });
    await provider.delete("box-1", { ...internal, pin: "4711" });
    expect(messages).toEqual([`progress ${internal.__urn} sawing [secret] open`]);
  });

  it("reports nothing if the state contains no URN", async () => {
    const { provider, messages } = bench({ delete: async (_id, _olds, { progress }) => progress("sawing") });
    await provider.delete("box-1", { __provider: "text" });
    expect(messages).toEqual([]);
  });

  it("stores the configuration synchronously", async () => {
    const stored: (string | undefined)[] = [];
    const { provider } = bench({}, { setConfiguration: (get) => stored.push(get("serverless-compute:baseUrl")) });
    const config = { get: (key: string) => `value of ${key}`, require: (key: string) => key };
    void provider.configure({ config });
    expect(stored).toEqual(["value of serverless-compute:baseUrl"]);
  });
});
