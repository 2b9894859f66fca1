import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { quietChange } from "../support/dialect";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Run, Stack } from "../support/pulumi";
import type { Way } from "./way";

const listed = z.array(z.looseObject({ id: z.string(), name: z.string() }));

/** Replacements of objects with unique names: forced ones, and interrupted ones. */
export function replacementsThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  type Part = "Template" | "Secret" | "ContainerRegistryAuth";

  const program = (args: Partial<Record<Part, object>>, options: object = {}): string => `
  const { ContainerRegistryAuth, Secret, Template } = require("${way.module}");
  const { Template: template, Secret: secret, ContainerRegistryAuth: auth } = ${JSON.stringify(args)};
  if (template) new Template("worker", { imageName: "acme/worker:1", ...template }, ${JSON.stringify(options)});
  if (secret) new Secret("token", { value: "sesame-5a1b", ...secret }, ${JSON.stringify(options)});
  if (auth) new ContainerRegistryAuth("registry", { username: "robot", password: "sesame-5a1c", ...auth }, ${JSON.stringify(options)});
`;

  /** Ids of everything that the service holds, by kind. */
  async function held(): Promise<Record<Part, string[]>> {
    const { templates, secrets } = await service.holdings();
    const auths = listed.parse(await service.rest("GET", "/containerregistryauth"));
    const ids = (all: { id: string }[]): string[] => all.map(({ id }) => id);
    return { Template: ids(templates), Secret: ids(secrets), ContainerRegistryAuth: ids(auths) };
  }

  /** Asserts that state and service contain the same objects. */
  async function expectAgreement(): Promise<void> {
    const state = (await stack.resources()).map(({ id }) => id).sort();
    expect(
      Object.values(await held())
        .flat()
        .sort(),
    ).toEqual(state);
    const refresh = await stack.refresh();
    expect(new Set(Object.values(refresh.operations).flat()), refresh.output).toEqual(new Set(["same"]));
  }

  const messagesAbout = ({ diagnostics }: Run, about: string, severity: string): string =>
    diagnostics
      .filter((one) => one.about === about && one.severity === severity && !one.ephemeral)
      .map(({ message }) => message)
      .join("\n");

  const succeeds = async (run: Promise<Run>): Promise<Run> => {
    const ended = await run;
    expect(ended.code, ended.output).toBe(0);
    return ended;
  };

  describe("a replacement that deleted the old template and could not create the new one", () => {
    const refused = { isServerless: false, containerRegistryAuthId: "nosuchauth" };

    it.each([
      ["is taken back", {}],
      ["is put right", { isServerless: false }],
    ])("%s: the template that is created then stays", async (_, next) => {
      const name = "worker";
      await stack.program(program({ Template: { name } }));
      await succeeds(stack.up());
      await stack.program(program({ Template: { name, ...refused } }));
      const failed = await stack.up();
      expect(failed.code).not.toBe(0);
      expect((await held()).Template).toEqual([]);
      await stack.program(program({ Template: { name, ...next } }));
      await succeeds(stack.up());
      expect((await held()).Template).toHaveLength(1);
      await expectAgreement();
      await succeeds(stack.destroy());
    });
  });

  describe("the option replaceOnChanges", () => {
    it.each([
      [
        "creates the replacement first under a generated name",
        {},
        ["create-replacement", "replace", "delete-replaced"],
      ],
      [
        "deletes first under a name of the program",
        { name: "set" },
        ["delete-replaced", "replace", "create-replacement"],
      ],
    ])("%s", async (_, named, steps) => {
      const options = { replaceOnChanges: ["*"] };
      await stack.program(program({ Template: named, Secret: named, ContainerRegistryAuth: named }, options));
      await succeeds(stack.up());
      const before = await held();
      const changed = {
        Template: { ...named, ...quietChange },
        Secret: { ...named, description: "new" },
        ContainerRegistryAuth: { ...named, username: "new" },
      };
      await stack.program(program(changed, options));
      const up = await succeeds(stack.up());
      expect(up.operations).toEqual({
        "Template worker": steps,
        "Secret token": steps,
        "ContainerRegistryAuth registry": steps,
      });
      const after = await held();
      for (const kind of ["Template", "Secret", "ContainerRegistryAuth"] as const)
        expect(after[kind], kind).toEqual([expect.not.stringMatching(`^${before[kind][0]}$`)]);
      await expectAgreement();
      await succeeds(stack.destroy());
    });
  });

  describe("up --target-replace", () => {
    const about: [Part, string][] = [
      ["Template", "Template worker"],
      ["Secret", "Secret token"],
      ["ContainerRegistryAuth", "ContainerRegistryAuth registry"],
    ];
    const named = Object.fromEntries(about.map(([kind]) => [kind, { name: "set" }]));
    const forced = async (kind: Part): Promise<Run> => {
      const urn = (await stack.resources()).find(({ type }) => type.endsWith(`:${kind}`))?.urn ?? "";
      return stack.up({ args: ["--target-replace", urn] });
    };

    it("replaces an object with a generated name", async () => {
      await stack.program(program({ Template: {}, Secret: {}, ContainerRegistryAuth: {} }));
      await succeeds(stack.up());
      for (const [kind, name] of about) {
        const before = await held();
        const up = await succeeds(forced(kind));
        expect(up.operations[name]).toEqual(["create-replacement", "replace", "delete-replaced"]);
        expect((await held())[kind]).toEqual([expect.not.stringMatching(`^${before[kind][0]}$`)]);
      }
      await expectAgreement();
      await succeeds(stack.destroy());
    });

    it("fails under a unique name of the program, and names the option deleteBeforeReplace, which enables it", async () => {
      await stack.program(program(named));
      await succeeds(stack.up());
      const before = await held();
      for (const [kind, name] of about) {
        const up = await forced(kind);
        expect(up.code, up.output).not.toBe(0);
        expect(messagesAbout(up, name, "error"), up.output).toContain("deleteBeforeReplace: true");
        expect(await held()).toEqual(before);
      }
      await stack.program(program(named, { deleteBeforeReplace: true }));
      for (const [kind, name] of about) {
        const up = await succeeds(forced(kind));
        expect(up.operations[name]).toEqual(["delete-replaced", "replace", "create-replacement"]);
        expect((await held())[kind]).toEqual([expect.not.stringMatching(`^${before[kind][0]}$`)]);
      }
      await expectAgreement();
      await succeeds(stack.destroy());
      expect(Object.values(await held()).flat()).toEqual([]);
    });

    it("keeps a volume that the replacement adopts", async () => {
      const volume = `
  const { NetworkVolume } = require("${way.module}");
  new NetworkVolume("models", { name: "models", size: 10, dataCenterId: "EU-RO-1", adoptExisting: true });
`;
      await stack.program(volume);
      await succeeds(stack.up());
      const [before] = (await service.holdings()).volumes;
      const urn = (await stack.resources())[0]?.urn ?? "";
      const up = await succeeds(stack.up({ args: ["--target-replace", urn] }));
      expect(messagesAbout(up, "NetworkVolume models", "warning")).toContain("its replacement adopted it");
      expect((await service.holdings()).volumes.map(({ id }) => id)).toEqual([before?.id]);
      expect((await stack.resources()).map(({ id }) => id)).toEqual([before?.id]);
      await succeeds(stack.destroy());
    });
  });
}
