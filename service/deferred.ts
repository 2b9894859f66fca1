/** Creates a promise and the function that resolves it, as `Promise.withResolvers` does from Node 22 on. */
export function deferred<Value = void>(): { promise: Promise<Value>; resolve(value: Value): void } {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}
