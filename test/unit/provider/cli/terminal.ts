import { main } from "../../../../provider/cli/main";
import type { LifecycleBench } from "../../../support/lifecycle-bench";

/** A terminal that records the output of a command. */
export function recordingTerminal(input = "") {
  const printed = { out: [] as string[], err: [] as string[] };
  return {
    io: {
      out: (text: string) => void printed.out.push(text),
      err: (text: string) => void printed.err.push(text),
      input: async () => input,
    },
    printed: () => ({ out: printed.out.join("\n"), err: printed.err.join("\n") }),
  };
}

/** Runs a command line in this process. */
export async function command(args: string[], input = ""): Promise<{ code: number; out: string; err: string }> {
  const { io, printed } = recordingTerminal(input);
  const code = await main(args, io);
  return { code, ...printed() };
}

/** Environment of a command that calls the bench's service. */
export const environmentOf = (
  { addresses, proxy }: Pick<LifecycleBench, "addresses" | "proxy">,
  dialect = "v2",
  key = addresses.apiKey,
) => ({
  SERVERLESS_COMPUTE_API_KEY: key,
  SERVERLESS_COMPUTE_URL: proxy.origin,
  SERVERLESS_COMPUTE_DIALECT: dialect,
});
