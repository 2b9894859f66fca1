/** Work after which V8 optimizes a function, by the version of V8; undefined of one that is not known. */
const budgets: Record<string, number | undefined> = { 11: 1_800_000, 12: 13_000_000, 13: 13_000_000 };
const isBun = "bun" in process.versions;
const budget = isBun ? undefined : budgets[process.versions.v8.split(".", 1)[0] ?? ""];

// biome-ignore lint/suspicious/noShadowRestrictedNames: it is the same one, with what the types of Node leave out.
declare const globalThis: {
  WebAssembly: {
    Module: new (bytes: Uint8Array) => object;
    Instance: new (module: object, imports: object) => object;
    compile(bytes: Uint8Array): Promise<object>;
  };
};
const { Instance, Module } = globalThis.WebAssembly;

const compiled = new WeakMap<Uint8Array, object>();

/**
 * Begins to compile what will soon be made a module of. Bun takes 3 ms for undici's parser, and has threads for it that
 * compile while the connection opens; V8 compiles a function when it is called.
 */
export function compileAhead(bytes: Uint8Array): void {
  if (!isBun) return;
  globalThis.WebAssembly.compile(bytes).then(
    (module) => compiled.set(bytes, module),
    // Whoever makes the module sees the same error.
    () => {},
  );
}

/**
 * Under V8: undici's parser of HTTP is one large function, which it would take for worth 80 ms of a processor to optimize, in
 * a process that has the responses of one command to parse. The flag counts where a module is made; it is set back because
 * code caches are only good under the flags that they were made with.
 */
function makeModule(bytes: Uint8Array): object {
  if (budget === undefined) return new Module(bytes);
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  setFlagsFromString(`--wasm-tiering-budget=${2 ** 31 - 1}`);
  try {
    return new Module(bytes);
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${budget}`);
  }
}

/** What undici gets for `WebAssembly` in the bundle. */
export const WebAssembly = {
  Instance,
  Module: class {
    constructor(bytes: Uint8Array) {
      // biome-ignore lint/correctness/noConstructorReturn: undici says `new` where the module may be there already.
      return compiled.get(bytes) ?? makeModule(bytes);
    }
  },
};
