import { openSync } from "node:fs";
import { watchSources } from "../../../../../service/workers/source-watch";

// Watches the folder of a handler in a process that cannot open another file, as when the system's limit of watches is reached.
const [, , handler = ""] = process.argv;
try {
  for (;;) openSync("/dev/null", "r");
} catch {
  watchSources({ images: { handler }, onSave: () => undefined, onNotice: (text) => console.log(text) });
}
