import { describe, expect, it } from "vitest";
import { defaultsKey } from "../../../../provider/framework/properties/defaults";
import { bench, internal } from "./box";

const state = { ...internal, name: "lunch-dev", size: 1 };

describe("a diff", () => {
  it("ignores internal inputs, so that a package upgrade is not a change", async () => {
    const { provider } = bench();
    const olds = { name: "lunch-dev", size: 1, __provider: "an older text" };
    const news = { ...state, __timeouts: { create: "5m" }, __secrets: [["note"]] };
    expect(await provider.diff("box-1", olds, news)).toMatchObject({ changes: false, replaces: [] });
  });

  it.each(["delete", "read"])(
    "reports a changed %s timeout, which the operation reads from the state",
    async (operation) => {
      const { provider } = bench();
      const withTimeout = (text?: string) => ({
        ...state,
        __timeouts: { create: "1m", ...(text && { [operation]: text }) },
      });
      const changes = async (olds: object, news: object) => (await provider.diff("box-1", olds, news)).changes;
      expect(await changes(state, withTimeout("5m"))).toBe(true);
      expect(await changes(withTimeout("5m"), withTimeout())).toBe(true);
      expect(await changes(withTimeout("5m"), withTimeout("300s"))).toBe(false);
    },
  );

  it("reports a value that the program has made secret since, because the state contains it as plain text", async () => {
    const { provider } = bench();
    const withSecrets = (...keys: string[]) => ({ ...state, __secrets: keys.map((key) => [key]) });
    const changes = async (olds: Record<string, unknown>, news: Record<string, unknown>) => {
      await provider.check(olds, news);
      return (await provider.diff("box-1", olds, news)).changes;
    };
    expect(await changes(state, withSecrets("size"))).toBe(true);
    expect(await changes(withSecrets("size"), withSecrets("size"))).toBe(false);
    expect(await changes(withSecrets("size"), state)).toBe(false);
    // A value that is secret by its kind is never plain text.
    expect(await changes({ ...state, pin: "4711" }, { ...withSecrets("pin"), pin: "4711" })).toBe(false);
  });

  it("distinguishes updates from replacements", async () => {
    const { provider } = bench();
    expect(await provider.diff("box-1", state, { ...state, colour: "red" })).toMatchObject({
      changes: true,
      replaces: [],
    });
    expect(await provider.diff("box-1", state, { ...state, size: 2 })).toMatchObject({
      changes: true,
      replaces: ["size"],
    });
  });

  it("deletes first if the program sets the same unique name, and last if the name differs or is generated", async () => {
    const generated = { name: state.name, [defaultsKey]: ["name:random"] };
    const { provider } = bench({
      check: (_olds, news) => ({ inputs: "name" in news ? news : { ...news, ...generated }, failures: [] }),
    });
    const { name: _name, ...unnamed } = state;
    const deleteBeforeReplace = async (news: Record<string, unknown>) => {
      const { inputs } = await provider.check(state, news);
      return (await provider.diff("box-1", state, inputs)).deleteBeforeReplace;
    };
    // The option replaceOnChanges may turn a change that does not replace by itself into a replacement.
    for (const change of [{ size: 2 }, { colour: "red" }]) {
      expect(await deleteBeforeReplace({ ...state, ...change })).toBe(true);
      expect(await deleteBeforeReplace({ ...state, ...change, name: "supper" })).toBe(false);
      expect(await deleteBeforeReplace({ ...unnamed, ...change })).toBe(false);
    }
  });

  it.each([
    [["*"], ["colour"], true],
    [["colour"], ["colour"], true],
    [["env"], ["env", "MODEL"], true],
    [["env.MODEL"], ["env", "MODEL"], true],
    [['env["a.b"]'], ["env", "a.b"], true],
    [["env.*"], ["env", "MODEL"], true],
    [["env.*"], ["env"], false],
    [["env.MODEL"], ["env", "OTHER"], false],
    [["name", "size"], ["colour"], false],
  ])("applies the option replaceOnChanges %j to a change of %j", async (replaceOnChanges, path, forced) => {
    const { provider } = bench({ diff: () => [{ path, kind: "update", replace: false }] });
    const news = { ...state, __replaceOnChanges: replaceOnChanges };
    expect(await provider.diff("box-1", state, news)).toMatchObject({ replaces: forced ? [path[0]] : [] });
  });

  it("reports warnings in a preview of the change", async () => {
    const { provider, messages } = bench();
    const news = { ...state, size: 2 };
    await provider.check(state, news);
    await provider.diff("box-1", state, news);
    expect(messages).toEqual([`warning ${internal.__urn} its content is lost`]);
  });

  it("reports no warnings in a refresh, which compares without a check", async () => {
    const { provider, messages } = bench();
    await provider.diff("box-1", state, { ...state, size: 2 });
    expect(messages).toEqual([]);
  });
});
