import { createRequire } from "node:module";
import { createService } from "../../../../../service/index";

/** Starts a service in the folder of its argument, reads an empty list, stops it, and prints the loaded packages. */
async function main(dataFolder: string): Promise<void> {
  const { baseUrl, apiKey, stop } = await createService({ port: 0, dataFolder });
  await fetch(`${baseUrl}/endpoints`, { headers: { authorization: `Bearer ${apiKey}` } });
  await stop();
  const files = Object.keys(createRequire(__filename).cache ?? {});
  const packages = files.flatMap((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  console.log(JSON.stringify([...new Set(packages)]));
}

void main(process.argv[2] ?? "");
