import type { Fields } from "../local-service";
import { joined, type Property, type References, type Row, variables } from "./property";

const mount = (size: unknown, path: unknown): Fields => ({ mounts: { persistent: { size, path } } });
const ofPods: Property["base"] = {
  v1: { isServerless: false, volumeInGb: 20, volumeMountPath: "/workspace" },
  v2: { serverless: false, ...mount(20, "/workspace") },
  graphql: { isServerless: false, volumeInGb: 20, volumeMountPath: "/workspace" },
};

/** A part of the start command, alone in GraphQL's dockerArgs. */
const ofGraphql = (part: "entrypoint" | "cmd") => (words: unknown) => ({
  dockerArgs: JSON.stringify({ entrypoint: [], cmd: [], [part]: words }),
});

/** The properties of a template. */
export const templateRows = ({ registries: [reader, writer] }: References): Record<string, Row> => ({
  name: { values: [`in-${Date.now()}-a`, `in-${Date.now()}-b`], wrong: ["", "x".repeat(192)] },
  imageName: { values: ["acme/a:1", "acme/b:2"], v2: (image) => ({ image }), restarts: true },
  containerDiskInGb: { values: [12, 13], v2: (disk) => ({ disk }), restarts: true, wrong: [-1] },
  dockerArgs: {
    values: ["python3 -u handler.py", "serve --say 'a b'"],
    v1: { read: (dockerArgs) => ({ dockerArgs }) },
    v2: (args) => ({ args }),
    restarts: true,
  },
  dockerEntrypoint: {
    values: [["/bin/start"], ["sh", "it's"]],
    v2: (entrypoint) => ({ entrypoint }),
    graphql: ofGraphql("entrypoint"),
    restarts: true,
  },
  dockerStartCmd: {
    values: [["python3", "-u", "my-handler.py"], ["serve"]],
    v2: (cmd) => ({ cmd }),
    graphql: ofGraphql("cmd"),
    restarts: true,
  },
  env: { values: [{ A: "1" }, { A: "2", B: "3" }], graphql: variables, restarts: true, wrong: [{ A: 1 }] },
  ports: {
    values: [
      ["8888/http", "22/tcp"],
      ["1/tcp", "65535/http"],
    ],
    graphql: (ports) => ({ ports: joined(ports) }),
    restarts: true,
    wrong: [["8888"], ["8888/udp"], ["0/http"], ["8888/http", "65536/http"], ["99999/tcp"]],
  },
  volumeInGb: { values: [30, 40], v2: (size) => mount(size, "/workspace"), restarts: true, base: ofPods, wrong: [-1] },
  volumeMountPath: { values: ["/data", "/models"], v2: (path) => mount(20, path), restarts: true, base: ofPods },
  containerRegistryAuthId: {
    values: [reader, writer],
    v2: (registry) => ({ registry }),
    restarts: true,
    wrong: ["nosuch"],
  },
  isServerless: { values: [false, true], v2: (serverless) => ({ serverless }), wrong: ["yes"] },
  readme: { values: ["## Hello", "text"], v2: null },
  startSsh: { values: [false, true], v1: { read: (startSsh) => ({ startSsh }) } },
  startJupyter: { values: [false, true], v1: { read: (startJupyter) => ({ startJupyter }) } },
  isPublic: { values: [true, false], v2: (isPublic) => ({ public: isPublic }) },
  category: { values: ["CPU", "AMD"], wrong: ["TPU"] },
  allowedCudaVersions: {
    values: [["12.4"], ["12.4", "12.8"]],
    v1: { read: (allowedCudaVersions) => ({ allowedCudaVersions }) },
    graphql: null,
  },
  startScript: { values: ["exit 1", "exit 2"], v1: null, v2: null, drift: false, restarts: true },
  advancedStart: { values: [true, false], v1: null, v2: null, drift: false },
  config: { values: [{ a: 1 }, { a: 2 }], v1: null, v2: null, drift: false },
  portsConfig: {
    values: [[{ name: "http", port: "80" }], [{ name: "ssh", port: "22" }]],
    v1: null,
    v2: null,
    drift: false,
  },
});
