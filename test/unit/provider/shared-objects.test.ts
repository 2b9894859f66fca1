import { describe, expect, test } from "vitest";
import { ResourceInitError } from "../../../provider/framework/errors";
import type { ProviderProcess } from "../../../provider/framework/process";
import { connectedProcess } from "../../support/configured-process";
import { providerVariants } from "../../support/provider-variants";
import { createBoxLifecycle, unusedClients } from "./dynamic/box";

type Call = "checkNew" | "check" | "diff" | "create" | "createUnfinished" | "delete";
/** A call of the engine for a resource: the check of a new or of a deployed one, and the others with the id of its object. */
type Step = `${Call} ${string}`;

/** The calls that the engine sends in one command (seen in its gRPC log), and the ids of the objects that must then be deleted. */
const rows: [title: string, steps: Step[], deleted: string[]][] = [
  [
    "a removed resource whose object another resource of the program has",
    ["check kept", "diff kept x", "delete removed x"],
    [],
  ],
  [
    "the same after a refresh, which also compares the removed resource",
    ["diff removed x", "diff kept x", "check kept", "diff kept x", "delete removed x"],
    [],
  ],
  [
    "a removed resource whose object a new resource has adopted",
    ["checkNew kept", "create kept", "delete removed box-1"],
    [],
  ],
  [
    "a removed resource whose object a new resource has adopted, although its create failed afterwards",
    ["checkNew kept", "createUnfinished kept", "delete removed box-1"],
    [],
  ],
  ...(["create", "createUnfinished"] as const).map((create): [string, Step[], string[]] => [
    `a replaced resource whose ${create === "create" ? "" : "unfinished "}replacement has adopted its object`,
    ["check kept", "diff kept box-1", "checkNew kept", `${create} kept`, "delete kept box-1"],
    [],
  ]),
  [
    "a resource that an earlier deployment could not delete after its replacement had adopted the object",
    ["check kept", "diff kept x", "delete kept x"],
    [],
  ],
  [
    "a replaced resource whose create failed and left another object",
    ["check kept", "diff kept x", "checkNew kept", "createUnfinished kept", "delete kept x"],
    ["x"],
  ],
  ["a removed resource", ["check kept", "diff kept x", "delete removed y"], ["y"]],
  ["a removed resource after a refresh", ["diff removed x", "checkNew other", "delete removed x"], ["x"]],
  ["a replaced resource", ["check kept", "diff kept x", "checkNew kept", "delete kept x"], ["x"]],
  [
    "a replaced resource that an alias renames",
    ["check renamed", "diff renamed x", "checkNew renamed", "delete kept x"],
    ["x"],
  ],
  ...(
    [
      ["check twin", "diff twin x", "check kept", "diff kept x"],
      ["check kept", "diff kept x", "check twin", "diff twin x"],
    ] satisfies Step[][]
  ).map((compared, index): [string, Step[], string[]] => [
    `a replaced resource whose object another resource has, compared ${index === 0 ? "before" : "after"} it`,
    [...compared, "checkNew kept", "delete kept x"],
    [],
  ]),
  ["all resources of a destroyed stack", ["delete kept x", "delete removed x"], ["x", "x"]],
];

describe.each(Object.entries(providerVariants))("with the %s", (_name, variant) => {
  test.each(rows)("a delete of %s deletes only objects that no kept resource has", async (_title, steps, expected) => {
    const deleted: string[] = [];
    const warnings: string[] = [];
    const box = createBoxLifecycle({
      create: async (inputs) => {
        if (inputs["label"] === "unfinished") throw new ResourceInitError("unfinished", "box-1", inputs);
        return { id: "box-1", outputs: inputs };
      },
      delete: async (id) => void (id !== undefined && deleted.push(id)),
    });
    const warning = async (urn: string, text: string) => void warnings.push(`${urn.split("::").at(-1)} ${text}`);
    const log = { progress: () => undefined, warning };
    const providerProcess: ProviderProcess = { ...connectedProcess(unusedClients()), log };
    const state = { label: "same" };
    let name = "";
    for (const step of steps) {
      const [call = "", resource = "", id = ""] = step.split(" ");
      name = resource;
      const calls = variant(box, providerProcess, name);
      const verbs: Record<string, () => Promise<unknown>> = {
        checkNew: () => calls.check({}, state),
        check: () => calls.check(state, state),
        diff: () => calls.diff(id, state, state),
        create: () => calls.create(state),
        createUnfinished: () => calls.create({ label: "unfinished" }),
        delete: () => calls.delete(id, state),
      };
      await (verbs[call] ?? expect.unreachable)();
    }
    const keeper = steps.some((step) => step.includes(" twin")) ? "twin" : "kept";
    const reason =
      name === keeper
        ? "replaced, because its replacement adopted it; to replace it, set the resource option deleteBeforeReplace: true"
        : `deleted, because the resource "${keeper}" of the program has the same object`;
    expect(deleted).toEqual(expected);
    expect(warnings).toEqual(
      expected.length > 0 ? [] : [expect.stringMatching(`^${name} Box ".+" was not ${reason}$`)],
    );
  });
});
