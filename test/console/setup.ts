import type { TestProject } from "vitest/node";
import { findChromium } from "../../scripts/chromium.mjs";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the browser; undefined where there is none. */
    chromium: string | undefined;
  }
}

/** Finds the browser once. */
export function setup(project: TestProject): void {
  project.provide("chromium", findChromium());
}
