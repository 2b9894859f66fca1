import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { defaultTimings } from "../../../../service/timings";
import { runLine } from "./command";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const read = (page: string): string => readFileSync(`${root}docs/${page}`, "utf8");
const ofJobs = ["run", "jobs", "job", "cancel", "retry", "faults"];
const commands = [
  "start",
  "apply",
  "init",
  "manifest",
  "key",
  "open",
  "prune",
  "status",
  ...ofJobs,
  "logs",
  "token",
  "reset",
  "snapshot",
  "restore",
];
const all = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, found]) => String(found))),
];

test("the pages name every command, and exactly the options of each command", async () => {
  const { out } = await runLine("--help");
  expect(
    all(out, /^ {2}([a-z]+) /gm)
      .filter((name) => name !== "help")
      .sort(),
  ).toEqual([...commands].sort());
  expect(all(read("service.md"), /^\| `([a-z]+)(?: [<[][^`]+)?` \|/gm)).toEqual(expect.arrayContaining(commands));
  // A cell lists the commands of an option, or the exceptions after "all but".
  const applies = (cell: string, name: string): boolean => cell.startsWith("all") !== cell.includes(`\`${name}\``);
  // The first tables have the options that `createService` has; each belongs to `start`.
  const [shared = "", ofCommands = ""] = read("service-options.md").split("## Options of commands");
  const ofStart = all(shared, /^\| `(--[a-z-]+)/gm);
  const ofOthers = [...ofCommands.matchAll(/^\| `(--[a-z-]+)[^`]*` \| ([^|]+) \|/gm)];
  const documented = [
    ...ofStart.map((option) => `start ${option}`),
    ...ofOthers.flatMap(([, option = "", cell = ""]) =>
      commands.filter((name) => applies(cell, name)).map((name) => `${name} ${option}`),
    ),
  ];
  const real: string[] = [];
  for (const name of commands) {
    const { out: help } = await runLine(name, "--help");
    real.push(...all(help, /^ {2}(--[a-z-]+)/gm).map((option) => `${name} ${option}`));
  }
  expect(documented.sort()).toEqual(real.sort());
});

test("docs/service-api.md lists every timing with its default", () => {
  const documented = [...read("service-api.md").matchAll(/^\| `([a-zA-Z]+)` \| (\d+) \|/gm)].map(([, name, value]) => [
    name,
    Number(value),
  ]);
  expect(Object.fromEntries(documented)).toEqual(defaultTimings);
});
