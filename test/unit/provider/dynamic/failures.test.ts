import { describe, expect, it } from "vitest";
import { ResourceInitError } from "../../../../provider/framework/errors";
import { asSecret, bench, errorOf, internal } from "./box";

const throwing = (thrown: unknown) => ({
  create: async () => {
    throw thrown;
  },
});

describe("a failing verb", () => {
  it("rejects with an Error that has a message, whatever it throws", async () => {
    const { provider } = bench(throwing(new AggregateError([new Error("one"), "two"])));
    expect((await errorOf(() => provider.create({ ...internal }))).message).toBe("one\ntwo");
  });

  it("reports its message once and without a stack trace in both places where the SDK prints it", async () => {
    const { provider } = bench({
      delete: async () => {
        throw new Error("the box is nailed shut");
      },
    });
    const error = await errorOf(() => provider.delete("box-1", { ...internal }));
    expect(`${error}: ${error.stack}`).toBe('Box "lunch", delete: failed; see its own message');
  });

  it("that created nothing rejects without an id, so that the engine stores nothing", async () => {
    const { provider } = bench(throwing(Object.assign(new Error("refused"), { id: 7 })));
    expect(await errorOf(() => provider.create({ ...internal }))).not.toHaveProperty("id");
  });

  it("that left an unfinished object keeps it, with its message, its reason and its secrets marked", async () => {
    const outputs = { pin: "4711", size: 2, name: "lunch" };
    const { provider } = bench(throwing(new ResourceInitError("the lid is missing", "box-1", outputs)));
    expect(await errorOf(() => provider.create({ ...internal, pin: "4711" }))).toMatchObject({
      message: "the lid is missing",
      id: "box-1",
      reasons: ["the lid is missing"],
      properties: { ...internal, size: 2, name: "lunch", pin: asSecret("4711") },
    });
  });

  it("never contains a secret value, whether marked by the kind or by the program", async () => {
    const { provider } = bench(throwing(new Error('pin 4711 and "tab\\there" and plain stay')));
    const props = { ...internal, pin: "4711", note: { a: ["tab\there", "plain"] }, __secrets: [["note", "a", "0"]] };
    const { message } = await errorOf(() => provider.create(props));
    expect(message).toBe('pin [secret] and "[secret]" and plain stay');
  });

  it("without connection settings fails with their message and runs nothing", async () => {
    const connect = (): never => {
      throw new Error("there is no API key");
    };
    const { provider } = bench({}, { connect });
    expect((await errorOf(() => provider.create({ ...internal }))).message).toBe("there is no API key");
  });

  it("a read without an id is rejected", async () => {
    const { provider } = bench();
    expect((await errorOf(() => provider.read("", { ...internal }))).message).toBe("cannot read: the id is empty");
  });

  it("a diff that throws rejects with an Error", async () => {
    const { provider } = bench({
      diff: () => {
        throw "cannot compare";
      },
    });
    expect((await errorOf(() => provider.diff("box-1", internal, internal))).message).toBe("cannot compare");
  });
});
