import { expect, test } from "vitest";
import { checkHealth, parseServer } from "../../../../service/workers/worker-server";
import { serve } from "../../../support/loopback";

test.each([
  [{}, { port: 80, healthPort: 80 }],
  [
    { PORT: "1", PORT_HEALTH: "65535" },
    { port: 1, healthPort: 65_535 },
  ],
  [{ PORT: "8000" }, { port: 8000, healthPort: 80 }],
  [{ PORT_HEALTH: "8001" }, { port: 80, healthPort: 8001 }],
])("the environment %j has the ports %j, because both default to 80", (env, ports) => {
  expect(parseServer(env)).toEqual({ ...ports, healthPath: "/ping" });
});

test.each([
  [{ PORT: "http" }, 'env.PORT: "http" is not allowed; must be a port from 1 to 65535'],
  [{ PORT: "80x" }, 'env.PORT: "80x" is not allowed'],
  [{ PORT: "65536" }, 'env.PORT: "65536" is not allowed'],
  [{ PORT_HEALTH: "0" }, 'env.PORT_HEALTH: "0" is not allowed'],
  [{ HEALTH_CHECK_PATH: "x/ping" }, 'env.HEALTH_CHECK_PATH: "x/ping" is not allowed; must be a path such as /ping'],
  [{ HEALTH_CHECK_PATH: "/a b" }, "must be a path such as /ping"],
  [{ HEALTH_CHECK_PATH: "/zustand-\u{fc}" }, "must be a path such as /ping"],
  [{ HEALTH_CHECK_PATH: "/\u{5065}\u{5eb7}" }, "must be a path such as /ping"],
])("the environment %j is rejected", (env, fault) => {
  expect(() => parseServer(env)).toThrow(fault);
});

test.each<[string, string, number | string]>([
  ["HTTP/1.1 200 OK\r\n\r\n", "its status", 200],
  ["HTTP/1.1 204 No Content\r\n\r\n", "its status", 204],
  ["", "an error", "socket hang up"],
  ["HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", "an error", "no response"],
])("a health check whose response is %j resolves with %s", async (response, _what, result) => {
  const origin = await serve(({ url, socket }) => void socket.end(url === "/ping?a" ? response : ""));
  const port = Number(new URL(origin).port);
  const checked = await checkHealth({ host: "127.0.0.1", port: 1, healthPort: port, healthPath: "/ping?a" });
  expect(checked instanceof Error ? checked.message : checked).toBe(result);
});
