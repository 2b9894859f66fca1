import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { scratchFolder } from "../../support/folders";
import { closeServer, listenOnLoopback } from "../../support/loopback";

/** Version of the fake CLIs. */
export const version = "3.250.0";

/** Writes an executable shell script. */
export function writeExecutable(path: string, ...lines: string[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(path, 0o755);
}

/** Writes small programs that behave like a complete Pulumi CLI of that version to a folder. */
export function writeCli(folder: string, saying = version): void {
  writeExecutable(join(folder, "pulumi"), `echo v${saying}`);
  writeExecutable(join(folder, "pulumi-language-nodejs"), "exit 0");
  writeExecutable(join(folder, "pulumi-resource-pulumi-nodejs"), "exit 0");
}

/** File that a build copies next to its result. */
export function writeDynamicProvider(folder: string): string {
  const path = join(folder, "pulumi-resource-pulumi-nodejs");
  writeExecutable(path, "exit 0");
  return path;
}

/** Writes a `go` that records its arguments in `<path>.calls` and "builds" an executable that prints the pinned version. */
export function writeGo(path: string, { saying = "go1.26.0", takes = 0 } = {}): () => string[] {
  writeExecutable(
    path,
    `echo "$*" >> "${path}.calls"`,
    'if [ "$1" = version ]; then',
    `  echo "go version ${saying} linux/amd64"`,
    'elif [ "$1" = build ]; then',
    `  sleep ${takes}`,
    '  while [ "$1" != -o ]; do shift; done',
    `  printf '#!/bin/sh\\necho v${version}\\n' > "$2"`,
    '  chmod 755 "$2"',
    "fi",
  );
  return () => readFileSync(`${path}.calls`, "utf8").trim().split("\n");
}

/** Starts a server on a free port that is closed after the test, and returns its address. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => closeServer(server));
  return listenOnLoopback(server);
}

/** Starts a server with a release in the official form: an archive and a file of checksums. */
export async function serveRelease({ damaged = false } = {}): Promise<{ address: string; paths: string[] }> {
  const folder = scratchFolder();
  writeCli(join(folder, "pulumi"));
  const name = `pulumi-v${version}-${process.platform}-${process.arch}.tar.gz`;
  execFileSync("tar", ["-czf", join(folder, name), "-C", folder, "pulumi"]);
  const archive = readFileSync(join(folder, name));
  const sum = createHash("sha256").update(archive).digest("hex");
  const paths: string[] = [];
  const address = await serve((request, response) => {
    paths.push(request.url ?? "");
    if (request.url === `/pulumi-${version}-checksums.txt`) response.end(`${"0".repeat(64)}  other\n${sum}  ${name}\n`);
    else if (request.url === `/${name}`) response.end(damaged ? Buffer.concat([archive, Buffer.from("x")]) : archive);
    else response.writeHead(404).end();
  });
  return { address, paths };
}
