import { main } from "../../../../provider/cli/main";

/** Runs a command line in this process. */
export async function command(args: string[], input = ""): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: [] as string[], err: [] as string[] };
  const code = await main(args, {
    out: (line) => printed.out.push(line),
    err: (line) => printed.err.push(line),
    input: async () => input,
  });
  return { code, out: printed.out.join("\n"), err: printed.err.join("\n") };
}
