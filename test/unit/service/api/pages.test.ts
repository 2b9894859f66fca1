import { expect, test } from "vitest";
import { createPager, type ReadNewest } from "../../../../service/api/management/pages";

const list =
  (...positions: number[]): ReadNewest<string> =>
  (before, count) =>
    positions
      .filter((position) => position < before)
      .slice(0, count)
      .map((position) => ({ position, row: `row ${position}` }));
const pager = createPager(2);

test("pages follow their cursors to the end", () => {
  const first = pager.page("/a", list(5, 4, 2, 1), {});
  expect(first).toMatchObject({ rows: ["row 5", "row 4"], pagination: { hasNextPage: true } });
  const { nextCursor: cursor } = first.pagination;
  const end = { nextCursor: null, hasNextPage: false };
  expect(pager.page("/a", list(5, 4, 2, 1), { cursor })).toEqual({ rows: ["row 2", "row 1"], pagination: end });
  expect(pager.page("/a", list(), {})).toEqual({ rows: [], pagination: end });
});

test("a cursor stays valid while elements are created and deleted", () => {
  const { nextCursor: cursor } = pager.page("/a", list(5, 4, 2, 1), {}).pagination;
  expect(pager.page("/a", list(6, 5, 2, 1), { cursor }).rows).toEqual(["row 2", "row 1"]);
});

test("a limit is a whole number from 1 to the largest page", () => {
  expect(pager.page("/a", list(3, 2, 1), { limit: "1" }).rows).toEqual(["row 3"]);
  expect(pager.page("/a", list(3, 2, 1), { limit: "1000" }).rows).toHaveLength(3);
  for (const limit of ["0", "1001", "1.5", "-1", "many", "", ["1", "2"]])
    expect(() => pager.page("/a", list(1), { limit })).toThrow(/^limit: /);
  expect(() => pager.page("/a", list(1), { limit: "101" }, 100)).toThrow(/from 1 to 100/);
});

test("a broken cursor, or a cursor of another list or other parameters, is rejected", () => {
  const { nextCursor } = pager.page("/a", list(3, 2, 1), {}).pagination;
  const cursor = nextCursor ?? "";
  const fault = expect.objectContaining({ code: "unprocessable" });
  for (const [path, query] of [
    ["/b", { cursor }],
    ["/a", { cursor, limit: "1" }],
    ["/a", { cursor: cursor.slice(0, -2) }],
    ["/a", { cursor: `${cursor}!` }],
    ["/a", { cursor: "2" }],
    ["/a", { cursor: "" }],
    ["/a", { cursor: Buffer.from("[]").toString("base64url") }],
  ] as const)
    expect(() => pager.page(path, list(3, 2, 1), query), JSON.stringify(query)).toThrow(fault);
});
