import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { prepareDataFolder } from "../../../../service/store/data-folder";
import { moveOrphans } from "../../../../service/store/orphans";
import { scratchFolder } from "../../../support/folders";

/** A data folder with these files; `move` returns the reports for a database with the volume "v1" and the endpoint "e1". */
function useFolder(...files: string[]) {
  const folder = scratchFolder();
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), file);
  }
  const move = (): string[] => {
    const reports: string[] = [];
    moveOrphans(
      folder,
      (id) => id === "v1",
      (id) => id === "e1",
      (text) => reports.push(text),
    );
    return reports;
  };
  return { folder, move };
}

test("files of unknown volumes and endpoints are moved, and all others stay", () => {
  const kept = ["volumes/v1/model", "workers/e1/home", "logs/e1.log", "logs/e1.log.1", "logs/notes.txt"];
  const { folder, move } = useFolder(...kept, "volumes/v2/model", "workers/e2/home", "logs/e2.log", "logs/e2.log.1");
  const moved = (path: string, owner: string): string =>
    `${path}: belongs to no ${owner} of the database and was moved to ${join(folder, "orphaned", path)}`;
  expect(move().sort()).toEqual([
    moved("logs/e2.log.1", "endpoint"),
    moved("logs/e2.log", "endpoint"),
    moved("volumes/v2", "network volume"),
    moved("workers/e2", "endpoint"),
  ]);
  for (const file of kept) expect(existsSync(join(folder, file))).toBe(true);
  expect(readFileSync(join(folder, "orphaned/volumes/v2/model"), "utf8")).toBe("volumes/v2/model");
  expect(move()).toEqual([]);
});

test("an earlier orphan of the same name is kept", () => {
  const { folder, move } = useFolder("logs/e2.log", "orphaned/logs/e2.log", "orphaned/logs/e2.log.1");
  expect(move()).toEqual([expect.stringContaining(join(folder, "orphaned/logs/e2.log.2"))]);
  expect(readFileSync(join(folder, "orphaned/logs/e2.log"), "utf8")).toBe("orphaned/logs/e2.log");
});

test("a link to another folder is not searched", () => {
  const { folder, move } = useFolder();
  const elsewhere = useFolder("logs/e2.log");
  symlinkSync(join(elsewhere.folder, "logs"), join(folder, "logs"));
  expect(move()).toEqual([]);
});

test("a file that cannot be moved is reported, and the others are moved", () => {
  const { folder, move } = useFolder("orphaned/volumes", "volumes/v2/model", "logs/e2.log");
  expect(move()).toEqual([
    expect.stringMatching(/^volumes\/v2: belongs to no network volume of the database and could not be moved \(.+\)$/),
    expect.stringContaining("logs/e2.log: belongs to no endpoint of the database and was moved"),
  ]);
  expect(existsSync(join(folder, "volumes/v2/model"))).toBe(true);
});

test.each([
  ["is a file", "file", "ENOTDIR"],
  ["is below a file", "file/data", "ENOTDIR"],
])("a data folder that %s is rejected", (_reason, path, code) => {
  const folder = scratchFolder();
  writeFileSync(join(folder, "file"), "");
  expect(() => prepareDataFolder(join(folder, path))).toThrow(expect.objectContaining({ code }));
});

test.each([
  [["notes", "service.ts"], "(notes, service.ts); choose a new or empty folder with --data"],
  [["a", "b", "c"], "(a, b, c); choose"],
  [["a", "b", "c", "d", "e"], "(a, b, c, and 2 more); choose"],
])("a folder with other files, such as %j, is rejected and not changed", (names, message) => {
  const folder = scratchFolder();
  for (const name of names) writeFileSync(join(folder, name), "");
  expect(() => prepareDataFolder(folder)).toThrow(message);
  expect(readdirSync(folder).sort()).toEqual(names);
});

test.each(["notes", "service.log", "service.log.1", ".DS_Store", "lost+found", "lock", "volumes"])(
  "a folder with %s may become a data folder, if it is the service's or allowed",
  (name) => {
    const folder = scratchFolder();
    writeFileSync(join(folder, name), "");
    prepareDataFolder(folder, "notes");
    expect(existsSync(join(folder, ".gitignore"))).toBe(false);
  },
);
