import { describe, expect, it } from "vitest";
import { Unknown } from "../../../../provider/engine/values";
import { bench, internal, unknownText } from "./box";

describe("a check", () => {
  it("names the property, whose value the engine prints", async () => {
    const { provider } = bench();
    const { failures } = await provider.check({}, { ...internal, size: 0, pin: "4711" });
    expect(failures).toEqual([{ property: "size", reason: '0 is too small, "[secret]"' }]);
  });

  it("turns any thrown value into a failure, because the SDK would print a stack trace", async () => {
    const { provider } = bench({
      check: () => {
        throw null;
      },
    });
    const { failures } = await provider.check({}, { ...internal });
    expect(failures).toEqual([{ property: "", reason: "unknown error" }]);
  });

  it.each(["5 minutes", "5", "s", ".", ".s", "1 s", "1d", "+-1s", "5m ", "1s\n"])(
    "rejects %j as a timeout",
    async (text) => {
      const { provider } = bench();
      for (const operation of ["create", "read", "update", "delete"]) {
        const { failures } = await provider.check({}, { ...internal, __timeouts: { [operation]: text } });
        const reason = `customTimeouts.${operation}: "${text}" is not a duration; use a value such as "90s", "5m" or "1h30m"`;
        expect(failures).toEqual([{ property: "", reason }]);
      }
    },
  );

  it("generates a name from resource and stack, with a new random suffix each time", async () => {
    const { provider } = bench();
    const names = await Promise.all(
      [1, 2].map(async () => (await provider.check({}, { ...internal })).inputs?.["name"]),
    );
    for (const name of names) expect(name).toMatch(/^lunch-dev-[0-9a-f]{7}$/);
    expect(new Set(names).size).toBe(2);
  });

  it("keeps the internal inputs and hides them from the lifecycle", async () => {
    const received: string[][] = [];
    const { provider } = bench({
      check: (olds, news) => {
        received.push(Object.keys(olds), Object.keys(news));
        return { inputs: news, failures: [] };
      },
    });
    const { inputs } = await provider.check({ ...internal, size: 1 }, { ...internal, size: 2 });
    expect({ inputs, received }).toEqual({ inputs: { ...internal, size: 2 }, received: [["size"], ["size"]] });
  });

  it("passes unknown values as unknown, at any depth, and returns them", async () => {
    const received: unknown[] = [];
    const { provider } = bench({
      check: (_olds, news) => {
        received.push(news["note"]);
        return { inputs: news, failures: [] };
      },
    });
    const note = { a: [unknownText, { b: unknownText }] };
    const { inputs } = await provider.check({}, { ...internal, note });
    expect(received).toEqual([{ a: [Unknown.value, { b: Unknown.value }] }]);
    expect(inputs).toMatchObject({ note });
  });

  it("accepts state from a package version without internal inputs", async () => {
    const { provider } = bench();
    const { inputs, failures } = await provider.check({}, { __provider: "text", size: 1 });
    expect({ inputs, failures }).toEqual({ inputs: { __provider: "text", size: 1, name: "nameless" }, failures: [] });
  });

  it("reports to the process whether a checked resource is new", async () => {
    const reported: boolean[] = [];
    const { provider } = bench({}, { warnBeforeCheck: (isNew) => void reported.push(isNew) });
    await provider.check({ ...internal, size: 1 }, { ...internal, size: 2 });
    await provider.check({}, { ...internal, size: 1 });
    expect(reported).toEqual([false, true]);
  });
});
