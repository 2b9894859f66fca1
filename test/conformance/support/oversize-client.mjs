import { parentPort, workerData } from "node:worker_threads";

/** Sends the same POST several times from its own event loop, as a remote client would. Reports the results. */
const { url, key, bytes, times } = workerData;
const body = JSON.stringify({ input: { text: "x".repeat(bytes) } });
const results = [];
for (let n = 0; n < times; n += 1) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  results.push(
    await fetch(url, { method: "POST", headers, body }).then(
      async (response) => `${response.status} ${(await response.text()) === "" ? "without a body" : "with a body"}`,
      (error) => `no answer: ${error.cause?.code ?? error.cause ?? error}`,
    ),
  );
}
parentPort.postMessage(results);
