import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { program, useFolder } from "./command";

const folder = await useFolder();

test("the first response of the REST API needs no GraphQL, no compilers of schemas, no command line and nothing that the console shows", async () => {
  const { ended } = program("test/unit/service/cli/programs/loaded.ts", [join(folder, "data")]);
  const { stdout, stderr } = await ended;
  expect(stderr).toBe("");
  const names = z.array(z.string());
  const { packages, parts } = z.object({ packages: names, parts: names }).parse(JSON.parse(stdout));
  expect(packages).toContain("fastify");
  expect(parts).toContain("sessions");
  for (const part of ["content", "overview", "page-files"]) expect(parts).not.toContain(part);
  for (const name of ["graphql", "ajv", "@fastify/ajv-compiler", "commander"]) expect(packages).not.toContain(name);
}, 30_000);
