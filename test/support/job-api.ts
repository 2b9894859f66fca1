import { type Behaviour, json } from "./faulty-server";
import { startScriptedService } from "./scripted-service";

type Operation = "run" | "runsync" | "status" | "cancel" | "health";

/** A job API with scripted responses; `call` is the number of the operation's call, from 1. */
export async function startJobApi(behaviours: Partial<Record<Operation, (call: number) => Behaviour>>) {
  const calls: string[] = [];
  const bodies: unknown[] = [];
  const service = await startScriptedService(({ url, body }) => {
    const operation = url.split(/[/?]/)[3] ?? "";
    calls.push(operation);
    if (body !== "") bodies.push(JSON.parse(body));
    const behaviour = Object.entries(behaviours).find(([name]) => name === operation)?.[1];
    return (
      behaviour?.(calls.filter((name) => name === operation).length) ?? json({ error: `unknown endpoint "e1"` }, 404)
    );
  });
  return { calls, bodies, ...service };
}
