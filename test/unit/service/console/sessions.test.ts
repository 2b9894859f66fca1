import { describe, expect, test } from "vitest";
import { createConsoleSessions, linkLifetime, sessionLifetime } from "../../../../service/console/sessions";
import { steadyClock } from "../../../../service/steady-clock";
import { ManualClock } from "../../../support/manual-clock";

const apiKey = "a-key-of-this-test-only";

describe("a link to the console", async () => {
  test("opens a session only once", async () => {
    const sessions = createConsoleSessions(apiKey, steadyClock(new ManualClock()));
    const token = sessions.newLink();
    const session = sessions.open(token);
    expect(sessions.isOpen(session)).toBe(true);
    expect(sessions.open(token)).toBeUndefined();
    expect(sessions.open("")).toBeUndefined();
  });

  test("is different each time, with 256 random bits", async () => {
    const sessions = createConsoleSessions(apiKey, steadyClock(new ManualClock()));
    const tokens = new Set(Array.from({ length: 50 }, sessions.newLink));
    expect(tokens.size).toBe(50);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
  });

  test.each([0, -3_600_000, 3_600_000])("expires after an hour if the clock changes by %i ms", async (change) => {
    const clock = new ManualClock();
    const sessions = createConsoleSessions(apiKey, steadyClock(clock));
    const [early, late] = [sessions.newLink(), sessions.newLink()];
    clock.change(change);
    await clock.advance(linkLifetime - 1);
    expect(sessions.open(early)).toBeDefined();
    await clock.advance(1);
    expect(sessions.open(late)).toBeUndefined();
  });

  test("is removed once a hundred newer links exist", async () => {
    const sessions = createConsoleSessions(apiKey, steadyClock(new ManualClock()));
    const first = sessions.newLink();
    const links = Array.from({ length: 100 }, sessions.newLink);
    expect(sessions.open(first)).toBeUndefined();
    expect(links.map((link) => sessions.open(link)).filter((session) => session === undefined)).toEqual([]);
  });
});

describe("a session", async () => {
  const open = (clock: ManualClock) => {
    const sessions = createConsoleSessions(apiKey, steadyClock(clock));
    return { sessions, session: sessions.open(sessions.newLink()) ?? "" };
  };

  test("survives a restart of the service, but not another API key", async () => {
    const clock = new ManualClock();
    const { session } = open(clock);
    expect(createConsoleSessions(apiKey, steadyClock(clock)).isOpen(session)).toBe(true);
    expect(createConsoleSessions(`${apiKey}2`, steadyClock(clock)).isOpen(session)).toBe(false);
  });

  test.each([0, -3_600_000, 3_600_000])(
    "expires after a week, also for a restarted service, if the system time has changed by %i ms",
    async (change) => {
      const clock = new ManualClock();
      const sessions = createConsoleSessions(apiKey, steadyClock(clock));
      clock.change(change);
      const restarted = createConsoleSessions(apiKey, steadyClock(clock));
      const session = sessions.start();
      const areOpen = (): boolean[] => [sessions, restarted].map(({ isOpen }) => isOpen(session));
      await clock.advance(sessionLifetime - 1);
      expect(areOpen()).toEqual([true, true]);
      await clock.advance(1);
      expect(areOpen()).toEqual([false, false]);
    },
  );

  test("is rejected with a later end, other content, another signature or another form", async () => {
    const { sessions, session } = open(new ManualClock());
    const [until = "", nonce = "", signature = ""] = session.split(".");
    const later = (parseInt(until, 36) + 1).toString(36);
    const other = (text: string): string => (text.startsWith("A") ? "B" : "A") + text.slice(1);
    const forged = [`${later}.${nonce}.${signature}`, `${until}.${other(nonce)}.${signature}`];
    for (const candidate of [...forged, `${until}.${nonce}.${other(signature)}`, apiKey, "", `${session}x`, undefined])
      expect(sessions.isOpen(candidate), candidate).toBe(false);
    expect(session).not.toContain(apiKey);
  });
});
