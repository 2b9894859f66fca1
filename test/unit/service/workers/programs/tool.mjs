import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** A handler whose action is selected by `input.do`. */
export default async function tool({ id, input, signal, ...rest }) {
  switch (input.do) {
    case "echo":
      return { id, input, rest };
    case "env":
      return process.env;
    case "args":
      return process.argv.slice(3);
    case "pid":
      return process.pid;
    case "say":
      console.log(input.text);
      console.error(input.text);
      return null;
    case "wait":
      await delay(input.ms);
      return "waited";
    case "waitForFile":
      while (!existsSync(input.file)) await delay(10);
      return process.pid;
    case "waitForStop":
      await delay(60_000, undefined, { signal }).catch(() => writeFileSync(input.file, String(signal.reason?.message)));
      return "stopped";
    case "hang":
      for (;;);
    case "crash":
      console.error(`last words ${process.env.SECRET ?? ""}`);
      process.exit(3);
      break;
    case "throw":
      throw new TypeError("thrown on purpose");
    case "throwWithCauses": {
      const loop = new Error("no route to the model");
      loop.cause = loop;
      throw new Error("fetch failed", { cause: new AggregateError([loop, "refused"], "no address works") });
    }
    case "throwValue":
      throw { text: "a text", object: { code: 5 }, list: ["a"], plain: Object.create(null) }[input.what];
    case "error":
      return { error: "failed in order", partial: 1 };
    case "throwSecret":
      throw new Error(`denied for ${process.env.SECRET}`, { cause: `token ${process.env.RUNPOD_AI_API_KEY}` });
    case "errorWithSecret":
      return { error: { denied: [process.env.SECRET, process.env.RUNPOD_AI_API_KEY] } };
    case "circle": {
      const circle = {};
      circle.circle = circle;
      return circle;
    }
    case "omitted":
      return {
        function: () => 1,
        symbol: Symbol("symbol"),
        toJSON: { toJSON: () => undefined },
        error: { error: () => 1 },
        chunk: [1, () => 1, 2].values(),
      }[input.what];
    case "number":
      return { list: [null, Number(input.text)] };
    case "stream":
      return [1, Number(input.text)].values();
    case "nothing":
      return undefined;
    case "refresh":
      return { refresh_worker: true, pid: process.pid };
    default:
      return "unknown";
  }
}
