import { expect, test } from "vitest";
import { defaultTimings, resolveTimings } from "../../../../service/timings";

const week = 604_800_000;

test("a timing within its bounds overrides the default", () => {
  for (const timings of [{ sweep: 1 }, { sweep: week }, { runsyncRetention: 300_000 }])
    expect(resolveTimings(timings)).toEqual({ ...defaultTimings, ...timings });
});

test.each([
  ["sweep", 0, week],
  ["sweep", 1.5, week],
  ["sweep", week + 1, week],
  ["runsyncRetention", 300_001, 300_000],
])("%s: %d is rejected with the allowed values", (name, value, longest) => {
  expect(() => resolveTimings({ [name]: value })).toThrow(
    `timings.${name}: ${value} is not allowed; must be a whole number of milliseconds from 1 to ${longest}`,
  );
});

test("an unknown timing is rejected with the known timings", () => {
  expect(() => resolveTimings({ ["sleep" as string]: 1 })).toThrow(
    `timings.sleep: unknown timing; must be one of ${Object.keys(defaultTimings).join(", ")}`,
  );
});
