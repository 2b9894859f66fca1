import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { program, useFolder } from "./command";

const folder = useFolder();

test("the first REST response loads no GraphQL, schema compilers or command line", async () => {
  const { ended } = program("test/unit/service/cli/programs/loaded.ts", [join(folder, "data")]);
  const { stdout, stderr } = await ended;
  expect(stderr).toBe("");
  const packages = z.array(z.string()).parse(JSON.parse(stdout));
  expect(packages).toContain("fastify");
  for (const name of ["graphql", "ajv", "@fastify/ajv-compiler", "commander"]) expect(packages).not.toContain(name);
});
