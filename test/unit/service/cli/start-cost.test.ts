import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { program, useFolder } from "./command";

const folder = useFolder();

test("the first REST response loads no GraphQL, schema compilers, command line or console", async () => {
  const { ended } = program("test/unit/service/cli/programs/loaded.ts", [join(folder, "data")]);
  const { stdout, stderr } = await ended;
  expect(stderr).toBe("");
  const names = z.array(z.string());
  const { packages, parts } = z.object({ packages: names, parts: names }).parse(JSON.parse(stdout));
  expect(packages).toContain("fastify");
  expect(parts).toContain("sessions");
  for (const part of ["content", "overview", "page-files"]) expect(parts).not.toContain(part);
  for (const name of ["graphql", "ajv", "@fastify/ajv-compiler", "commander"]) expect(packages).not.toContain(name);
});
