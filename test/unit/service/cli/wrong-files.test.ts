import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../../../service/store/database";
import { lockFolder } from "../../../../service/store/folder-lock";
import { scratchFolder } from "../../../support/folders";
import { randomFrom } from "../../../support/random";
import { changeFile } from "../store/support/sqlite-file";
import { command, runLine } from "./command";

const top = scratchFolder(afterAll);
/** A data folder with an endpoint `e`, a volume's file and a job that only the write-ahead log contains, as after a kill. */
const original = join(top, "original");

const fileOf = (folder: string): string => join(folder, "service.db");
const changeStore = (folder: string, ...statements: string[]): void => changeFile(fileOf(folder), statements);

const jobRow = `'["run",0,null,1,1,1,9999999999999,0,0,null,null,null,null]', '{}'`;

beforeAll(() => {
  const data = join(top, "data");
  const database = openDatabase(data);
  for (const sql of [
    'INSERT INTO templates VALUES (\'t\', \'t\', NULL, \'{"imageName":"i","containerDiskInGb":5,"volumeInGb":0}\', NULL, 1)',
    "INSERT INTO endpoints VALUES ('e', 'e', 't', 1, '{\"name\":\"e\",\"templateId\":\"t\"}', 1)",
    "INSERT INTO worker_tokens VALUES ('e', 'token-of-this-test', 0)",
    `INSERT INTO jobs (seq, id, endpoint_id, status, record, input) VALUES (1, 'j', 'e', 'IN_QUEUE', ${jobRow})`,
  ])
    database.prepare(sql).run();
  mkdirSync(join(data, "volumes/v"), { recursive: true });
  writeFileSync(join(data, "volumes/v/model.bin"), "weights");
  cpSync(data, original, { recursive: true, filter: (path) => !/lock|-shm$/.test(path) });
  database.close();
});

/** Contents of all files below a folder, except the lock. */
function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => !/^lock/.test(name));
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      const stats = lstatSync(path);
      if (stats.isSymbolicLink()) return [name, readlinkSync(path)];
      return [name, stats.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : ""];
    }),
  );
}

const randomBytes = (length: number): Buffer => {
  const random = randomFrom(12);
  return Buffer.from(Array.from({ length }, () => random.int(0, 255)));
};
function replaceStore(folder: string, create: (file: string) => void): void {
  rmSync(fileOf(folder));
  create(fileOf(folder));
}
/** Replaces the store by one whose pages are all in the file. */
function checkpoint(folder: string): void {
  changeStore(folder, "PRAGMA journal_mode = DELETE");
  for (const suffix of ["-wal", "-shm"]) rmSync(`${fileOf(folder)}${suffix}`, { force: true });
}

const allCommands = ["start", "reset", "snapshot", "restore into", "restore from", "token", "logs", "prune"] as const;
type Command = (typeof allCommands)[number];

/** Files of others: no command opens or deletes them. */
const foreignFiles: Record<string, (folder: string) => void> = {
  "an empty file beside a log": (folder) => truncateSync(fileOf(folder)),
  "an empty file without a log": (folder) => {
    truncateSync(fileOf(folder));
    rmSync(`${fileOf(folder)}-wal`);
  },
  "another program's SQLite file": (folder) => {
    rmSync(`${fileOf(folder)}-wal`);
    replaceStore(folder, () => changeStore(folder, "CREATE TABLE notes (text)"));
  },
  "another program's SQLite file with an application id": (folder) => {
    rmSync(`${fileOf(folder)}-wal`);
    replaceStore(folder, () => changeStore(folder, "PRAGMA application_id = 252006674", "PRAGMA user_version = 15"));
  },
  "another program's SQLite file beside the log of a store": (folder) =>
    replaceStore(folder, (file) => {
      const other = join(folder, "other");
      mkdirSync(other);
      changeStore(other, "PRAGMA user_version = 3", "CREATE TABLE notes (text)");
      cpSync(fileOf(other), file);
      rmSync(other, { recursive: true });
    }),
  "random bytes": (folder) => writeFileSync(fileOf(folder), randomBytes(20_000)),
  "the first bytes of a store": (folder) => truncateSync(fileOf(folder), 50),
  "a directory": (folder) => replaceStore(folder, (file) => mkdirSync(file)),
  "a symbolic link to a store": (folder) => replaceStore(folder, (file) => symlinkSync(fileOf(original), file)),
  "a symbolic link to nothing": (folder) => replaceStore(folder, (file) => symlinkSync(join(folder, "absent"), file)),
  "the store of a newer release": (folder) => {
    checkpoint(folder);
    changeStore(folder, "PRAGMA user_version = 99");
  },
};

/** Damaged stores of the service, and the commands that may use them: those that replace them, and those that read other rows. */
const damagedStores: Record<string, { damage(folder: string): void; usable: readonly Command[] }> = {
  "half of a store": {
    damage: (folder) => {
      checkpoint(folder);
      truncateSync(fileOf(folder), 8 * 4096);
    },
    usable: ["reset", "restore into", "prune"],
  },
  "random bytes as the log": {
    damage: (folder) => writeFileSync(`${fileOf(folder)}-wal`, randomBytes(20_000)),
    usable: ["reset", "restore into", "prune"],
  },
  "random pages behind the header": {
    damage: (folder) => {
      checkpoint(folder);
      const file = readFileSync(fileOf(folder));
      writeFileSync(fileOf(folder), Buffer.concat([file.subarray(0, 100), randomBytes(file.length - 100)]));
    },
    usable: ["reset", "restore into", "prune"],
  },
  "a store without a table": {
    damage: (folder) => changeStore(folder, "DROP TABLE jobs"),
    usable: ["reset", "restore into", "token", "logs", "prune"],
  },
  "a store with an unknown job state": {
    damage: (folder) => changeStore(folder, "UPDATE jobs SET status = 'FOO'"),
    usable: ["reset", "restore into", "token", "logs", "prune"],
  },
  "a store with a job that is not JSON": {
    damage: (folder) => changeStore(folder, "UPDATE jobs SET record = '[x'"),
    usable: ["reset", "restore into", "token", "logs", "prune"],
  },
  "a store with a damaged template": {
    damage: (folder) => changeStore(folder, "UPDATE templates SET content = '{\"env\":'"),
    usable: ["reset", "restore into", "token", "logs", "prune"],
  },
  "a store with an incomplete endpoint": {
    damage: (folder) => changeStore(folder, "UPDATE endpoints SET content = '{}'"),
    usable: ["reset", "restore into", "token", "logs", "prune"],
  },
};

let places = 0;
/** Runs a command on a folder that `prepare` changes. `wrong` is this folder, `data` the folder of `--data`. */
async function run(name: Command, prepare: (folder: string) => void) {
  const place = join(top, `place-${++places}`);
  const wrong = join(place, "wrong");
  cpSync(original, wrong, { recursive: true });
  prepare(wrong);
  const data = name === "restore from" ? join(place, "data") : wrong;
  if (data !== wrong) cpSync(original, data, { recursive: true });
  const words: Record<Command, string[]> = {
    start: ["start", "--port", "0", "--runtime", "none"],
    reset: ["reset"],
    snapshot: ["snapshot", join(place, "copy")],
    "restore into": ["restore", original],
    "restore from": ["restore", wrong],
    token: ["token", "e"],
    logs: ["logs", "e"],
    prune: ["prune"],
  };
  const before = [contentOf(wrong), contentOf(data)];
  const line = await runLine(...words[name], "--data", data);
  return { place, wrong, data, before, after: [contentOf(wrong), contentOf(data)], ...line };
}

/** Fails if a folder is still locked. */
const expectUnlocked = (folder: string): void => lockFolder(folder)();

describe.each(Object.keys(foreignFiles))("%s as service.db", (kind) => {
  test.each(allCommands)(
    "is rejected by `%s`, which names the file, changes nothing and unlocks the folder",
    async (name) => {
      const result = await run(name, foreignFiles[kind] ?? expect.unreachable);
      expect(result.code).toBe(1);
      expect(result.err).toMatch(
        new RegExp(
          `^serverless-compute-local: the (file|store) ${fileOf(result.wrong)}: (is not a store of this service \\(.+\\)|was written by a newer release .*); [^\\n]+$`,
        ),
      );
      expect(result.out).toBe("");
      expect(result.after).toEqual(result.before);
      expectUnlocked(result.data);
    },
  );
});

describe.each(Object.keys(damagedStores))("%s", (kind) => {
  const { damage, usable } = damagedStores[kind] ?? expect.unreachable();
  const rejecting = allCommands.filter((name) => !usable.includes(name));
  test.each(rejecting)(
    "is rejected by `%s`, which names the file, keeps all files and unlocks the folder",
    async (name) => {
      const result = await run(name, damage);
      expect(result.code).toBe(1);
      expect(result.err).toContain(fileOf(result.wrong));
      expect(result.err.split("\n")).toHaveLength(1);
      const kept = (folder: string): string[] =>
        readdirSync(folder).filter((name) => /^(service\.db|volumes|copy)$/.test(name));
      expect([kept(result.wrong), kept(result.data)]).toEqual([
        ["service.db", "volumes"],
        ["service.db", "volumes"],
      ]);
      if (name === "restore from") expect(result.after[1]).toEqual(result.before[1]);
      expectUnlocked(result.data);
      if (name === "snapshot") expect(readdirSync(join(result.place, "copy"))).toEqual([]);
    },
  );

  test("can be deleted or replaced by a backup", async () => {
    expect(await run("reset", damage)).toMatchObject({ code: 0, err: "" });
    const { code, err, data } = await run("restore into", damage);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(await runLine("token", "e", "--data", data)).toMatchObject({ code: 0, out: "token-of-this-test" });
  });
});

test.each<[string, (file: string) => void]>([
  ["a directory", (file) => mkdirSync(file)],
  ["a pipe", (file) => void execFileSync("mkfifo", [file])],
])("%s as api-key is rejected with its name", async (_what, create) => {
  const data = join(top, `key-${++places}`);
  cpSync(original, data, { recursive: true });
  const file = join(data, "api-key");
  rmSync(file, { force: true });
  create(file);
  const rejected = {
    code: 1,
    out: "",
    err: `serverless-compute-local: ${file}: is not a file; delete it to get a new key`,
  };
  for (const words of [["start", "--port", "0", "--runtime", "none"], ["key"], ["status"]])
    expect(await runLine(...words, "--data", data)).toEqual(rejected);
  expectUnlocked(data);
});

test("the process of `start` ends with code 1 for a damaged store", async () => {
  const data = join(top, `ended-${++places}`);
  cpSync(original, data, { recursive: true });
  damagedStores["a store with an unknown job state"]?.damage(data);
  const { code, stderr } = await command(["start", "--port", "0", "--data", data, "--runtime", "none"]).ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining(fileOf(data))]);
  expectUnlocked(data);
});
