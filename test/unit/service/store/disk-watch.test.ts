import { cpSync, existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openWatchedDatabase } from "../../../../service/store/disk-watch";
import { scratchFolder } from "../../../support/folders";
import { ManualClock } from "../../../support/manual-clock";
import { lockStore } from "./support/sqlite-file";

function useWatchedStore() {
  const dataFolder = scratchFolder();
  const clock = new ManualClock();
  const notices: string[] = [];
  const logged: string[] = [];
  const store = openWatchedDatabase({ dataFolder, clock, onNotice: (text) => notices.push(text) });
  onTestFinished(store.database.close);
  const add = (text: unknown) => void logged.push(String(text));
  store.useLog({ info: add, error: add });
  const change = (): void =>
    store.database.transaction(() => store.database.prepare("DELETE FROM account_settings").run());
  return { ...store, dataFolder, clock, notices, logged, change };
}

const recovered = "the store can be written again";

test("a store that cannot be written is a problem until it can be written, even if no request writes", async () => {
  const { clock, problem, change, dataFolder, notices, logged } = useWatchedStore();
  expect(problem()).toBeUndefined();
  const unlock = lockStore(dataFolder);
  for (const _ of ["first", "second"]) expect(change).toThrow(/store is locked/);
  const reason = `store is locked: another program uses ${dataFolder}; close that program`;
  expect(problem()).toBe(reason);
  await clock.advance(1000);
  expect(problem()).toBe(reason);
  unlock();
  await clock.advance(1000);
  expect(problem()).toBeUndefined();
  expect(notices).toEqual([reason, recovered]);
  expect(logged).toEqual(notices);
  lockStore(dataFolder)();
  expect(change).not.toThrow();
});

test("small changes that fit into the log of a full disk are not its end", async () => {
  const { clock, problem, change, dataFolder, notices } = useWatchedStore();
  const unlock = lockStore(dataFolder);
  expect(change).toThrow(/store is locked/);
  unlock();
  symlinkSync("/dev/full", join(dataFolder, "service.db.probe"));
  expect(change).not.toThrow();
  await clock.advance(1000);
  expect(problem()).toContain("store is locked");
  expect(notices).toHaveLength(1);
  // The attempt deleted the link.
  await clock.advance(1000);
  expect(problem()).toBeUndefined();
});

test("the file of an attempt that a kill interrupted is deleted by the next start", () => {
  const dataFolder = scratchFolder();
  const start = () => openWatchedDatabase({ dataFolder, clock: new ManualClock(), onNotice: () => undefined }).database;
  start().close();
  writeFileSync(join(dataFolder, "service.db.probe"), "");
  start().close();
  expect(existsSync(join(dataFolder, "service.db.probe"))).toBe(false);
});

const lost = (dataFolder: string): string =>
  `data folder was deleted, moved or replaced: ${dataFolder}; move it back, or stop the service and start it again`;

test.each<[string, (folder: string, copy: string) => void]>([
  ["deleted", (folder) => rmSync(folder, { recursive: true })],
  ["moved", (folder, copy) => renameSync(folder, join(copy, "moved"))],
  [
    "replaced by a copy",
    (folder, copy) => {
      renameSync(folder, join(copy, "moved"));
      cpSync(join(copy, "moved"), folder, { recursive: true });
    },
  ],
])(
  "a data folder that was %s is soon a problem, because its changes would be lost with the service",
  async (_how, remove) => {
    const { problem, change, dataFolder, notices } = useWatchedStore();
    expect(change).not.toThrow();
    remove(dataFolder, scratchFolder());
    const isRejected = () =>
      expect(change).toThrow(expect.objectContaining({ status: 503, message: lost(dataFolder) }));
    await vi.waitFor(isRejected);
    isRejected();
    expect([problem(), notices]).toEqual([lost(dataFolder), [lost(dataFolder)]]);
  },
);

test("a data folder that is moved back can be changed again", async () => {
  const { clock, problem, change, dataFolder, notices } = useWatchedStore();
  const away = join(scratchFolder(), "away");
  renameSync(dataFolder, away);
  await vi.waitFor(() => expect(change).toThrow(lost(dataFolder)));
  await clock.advance(1000);
  expect(problem()).toBe(lost(dataFolder));
  renameSync(away, dataFolder);
  await clock.advance(1000);
  expect(change).not.toThrow();
  expect(problem()).toBeUndefined();
  expect(notices).toEqual([lost(dataFolder), recovered]);
});

test("a change outside a transaction fails with the reason, which is a problem", () => {
  const { database, problem, dataFolder } = useWatchedStore();
  const unlock = lockStore(dataFolder);
  expect(() => database.prepare("DELETE FROM account_settings").run()).toThrow(
    expect.objectContaining({ status: 503 }),
  );
  unlock();
  expect(problem()).toContain("store is locked");
});

test("the end of the service ends the attempts", async () => {
  const { database, change, clock, dataFolder, notices } = useWatchedStore();
  const unlock = lockStore(dataFolder);
  expect(change).toThrow(/store is locked/);
  unlock();
  database.close();
  await clock.advance(1000);
  expect([clock.waiting, notices.length]).toEqual([0, 1]);
});
