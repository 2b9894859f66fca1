import { createCancellation, handleEngineSignals } from "../../../../provider/engine/cancellation";

/** A long-lived provider process that obeys cancellations and reports the events of its verb over IPC. */
const [cleanup = "none", limit = ""] = process.argv.slice(2);
const cancellation = createCancellation();
handleEngineSignals(cancellation, undefined, { timeout: Number(limit) });
const stayUp = setInterval(() => {}, 1000);

if (cleanup !== "none") {
  void cancellation.run(async (signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    process.send?.("cancelled");
    await new Promise((resolve) => setTimeout(resolve, Number(cleanup)));
    process.send?.("cleaned up");
  });
}
process.on("disconnect", () => clearInterval(stayUp));
process.send?.("ready");
