import { setFlagsFromString } from "node:v8";

/** Work after which V8 optimizes a function, by the version of V8; undefined of one that is not known. */
const budgets: Record<string, number | undefined> = { 11: 1_800_000, 12: 13_000_000, 13: 13_000_000 };
const budget = "bun" in process.versions ? undefined : budgets[process.versions.v8.split(".", 1)[0] ?? ""];

// biome-ignore lint/suspicious/noShadowRestrictedNames: it is the same one, with what the types of Node leave out.
declare const globalThis: {
  WebAssembly: {
    Module: new (bytes: Uint8Array) => object;
    Instance: new (module: object, imports: object) => object;
  };
};
const { Instance, Module } = globalThis.WebAssembly;

/**
 * What undici gets for `WebAssembly` in the bundle. Its parser of HTTP is one large function, which V8 would take
 * for worth 80 ms of a processor to optimize, in a process that has the responses of one command to parse. The flag counts
 * where a module is made; it is set back because code caches are only good under the flags that they were made with.
 */
export const WebAssembly = {
  Instance,
  Module: class extends Module {
    constructor(bytes: Uint8Array) {
      if (budget !== undefined) setFlagsFromString(`--wasm-tiering-budget=${2 ** 31 - 1}`);
      try {
        super(bytes);
      } finally {
        if (budget !== undefined) setFlagsFromString(`--wasm-tiering-budget=${budget}`);
      }
    }
  },
};
