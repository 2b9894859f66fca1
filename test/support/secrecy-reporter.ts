import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SerializedError, UserConsoleLog } from "vitest";
import type { Reporter, TestModule } from "vitest/node";
import { z } from "zod";
import { type Artefact, leaksIn, secretsFolderVariable } from "./secret-scan";

const secretEntry = z.tuple([z.string(), z.string()]);

/** Text, stack and causes of a failure. */
const failureText = (error: unknown): string => JSON.stringify(error) ?? "";

/** Fails a run whose own output, including tests' logs and failures, contains a secret of a test. */
export default class SecrecyReporter implements Reporter {
  readonly #folder = join(tmpdir(), `run-secrets-${randomUUID()}`);
  readonly #seen: Artefact[] = [];

  onInit(): void {
    // Test files run in their own processes, which inherit this variable.
    process.env[secretsFolderVariable] = this.#folder;
  }

  onTestRunStart(): void {
    // Not in the constructor: vitest also creates reporters for commands without a run.
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  onUserConsoleLog({ content, taskId }: UserConsoleLog): void {
    this.#seen.push([`the output of ${taskId ?? "the run"}`, content]);
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    for (const module of modules) {
      this.#seen.push([`a failure of ${module.relativeModuleId}`, failureText(module.errors())]);
      for (const test of module.children.allTests())
        this.#seen.push([`the failure of "${test.fullName}"`, failureText(test.result().errors)]);
    }
    this.#seen.push(["an error outside of tests", failureText(errors)]);
    const lines = readdirSync(this.#folder).flatMap((file) =>
      readFileSync(join(this.#folder, file), "utf8").trim().split("\n"),
    );
    const secrets = new Map(lines.map((line) => secretEntry.parse(JSON.parse(line))));
    rmSync(this.#folder, { recursive: true, force: true });
    const leaks = leaksIn(this.#seen, secrets);
    if (leaks.length === 0) return;
    console.error(`the run's own output repeats secrets:\n${leaks.join("\n")}`);
    process.exitCode = 1;
  }
}
