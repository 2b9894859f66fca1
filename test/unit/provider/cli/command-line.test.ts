import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { scratchFolder } from "../../../support/folders";
import { command } from "./terminal";

const folder = scratchFolder(afterAll);

/** The smallest state with one of our dynamic resources. */
const state = JSON.stringify({
  version: 3,
  deployment: {
    resources: [
      {
        urn: "urn:pulumi:dev::shop::pulumi:providers:pulumi-nodejs::default",
        type: "pulumi:providers:pulumi-nodejs",
        id: "p",
      },
      {
        urn: "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/serverless:Secret::token",
        type: "pulumi-nodejs:dynamic/serverless:Secret",
        custom: true,
        id: "s1",
        provider: "urn:pulumi:dev::shop::pulumi:providers:pulumi-nodejs::default::p",
      },
    ],
  },
});

describe("the command line", () => {
  it("lists and describes its commands", async () => {
    const help = await command(["--help"]);
    expect(help).toMatchObject({ code: 0, err: "" });
    for (const name of ["move", "preview-comment", "recover"]) {
      expect(help.out).toContain(`  ${name} `);
      expect((await command([name, "--help"])).out).toContain(`Usage: serverless-compute ${name}`);
    }
  });

  it.each(["import", "move"])("names the environment variables that %s reads", async (name) => {
    const { out } = await command([name, "--help"]);
    for (const variable of ["API_KEY", "URL", "TARGET"]) expect(out).toContain(`  SERVERLESS_COMPUTE_${variable} `);
  });

  it("prints its version", async () => {
    expect(await command(["--version"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^serverless-compute \d/),
    });
  });

  it("rejects more past lines of a log than REST v2 returns", async () => {
    const { code, err } = await command(["logs", "chat", "--lines", "5001"]);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("It must be a whole number from 0 to 5000."),
    });
  });

  it.each([[["restore"]], [["move", "--force"]], [["recover", "--file", "a", "--yes"]], [["move", "a", "b"]], [[]]])(
    "exits with 2 for the wrong command line %j",
    async (args) => {
      const { code, out, err } = await command(args);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).not.toBe("");
    },
  );

  it.each([["drift", "--file"], ["recover", "--file"], ["estimate"], ["preview-comment"], ["move"]])(
    "%s rejects a device, which has no end",
    async (...words) => {
      const { code, out, err } = await command([...words, "/dev/full"]);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toMatch(/^serverless-compute: the input is not a (preview|stack's state); pass the output of /);
    },
  );

  // As from an unset variable of a shell.
  it.each([
    ["import --out ", "option '--out <dir>'"],
    ["import --out x --filter ", "option '--filter <pattern>'"],
    ["recover --stack ", "option '--stack <name>'"],
    ["recover --cwd ", "option '--cwd <dir>'"],
    ["recover --file ", "option '--file <file>'"],
    ["recover --import a --import ", "option '--import <id>'"],
    ["recover --ignore ", "option '--ignore <id>'"],
    ["drift --stack ", "option '--stack <name>'"],
    ["drift --cwd ", "option '--cwd <dir>'"],
    ["drift --file ", "option '--file <file>'"],
    ["estimate --prices ", "option '--prices <file>'"],
    ["estimate ", "argument 'file'"],
    ["preview-comment --stack ", "option '--stack <name>'"],
    ["preview-comment ", "argument 'file'"],
    ["move ", "argument 'file'"],
    ["move --from terraform --out ", "option '--out <dir>'"],
    ["run  {}", "argument 'endpoint'"],
    ["jobs ", "argument 'endpoint'"],
    ["job ", "argument 'id'"],
    ["cancel ", "argument 'id'"],
    ["retry ", "argument 'id'"],
    ["logs ", "argument 'endpoint'"],
  ])("rejects the empty value in %j", async (line, subject) => {
    const { code, out, err } = await command(line.split(" "));
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(
      new RegExp(`^serverless-compute: .*${subject.replaceAll(/[<>]/g, ".")}.* It must not be empty\\.$`),
    );
  });

  it("exits with 1 and one line for a missing file", async () => {
    const { code, out, err } = await command(["move", join(folder, "none.json")]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^serverless-compute: .*none\.json: cannot be read \(ENOENT\); specify an existing file$/);
  });
});

describe("move", () => {
  it("prints the state on stdout and the count on stderr, from standard input and from a file", async () => {
    const piped = await command(["move"], state);
    expect(piped).toMatchObject({ code: 0, err: "Resources moved to the plugin: 1." });
    expect(JSON.parse(piped.out).deployment.resources).toMatchObject([
      {},
      { type: "pulumi:providers:serverless-compute" },
      { type: "serverless-compute:index:Secret", id: "s1" },
    ]);
    await writeFile(join(folder, "state.json"), state);
    expect(await command(["move", join(folder, "state.json")])).toMatchObject({ code: 0, err: piped.err });
  });

  it.each(["", "{}", "[1]", '{"deployment": {"resources": [{}]}}'])("rejects the input %j", async (input) => {
    const { code, out, err } = await command(["move"], input);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe("serverless-compute: the input is not a stack's state; pass the output of `pulumi stack export`");
  });
});
