import type { Properties } from "../../../provider/engine/values";
import { dialect } from "../../support/dialect";
import type { Random } from "../../support/random";
import type { Declared } from "./deployment";

/** Aspects of a program that may change between two runs. */
interface Choices {
  token: string;
  description: string;
  password: string;
  size: number;
  dataCenter: string;
  readme: string;
  variable: string;
  workersMax: number;
  gpus: string[];
  computeType: "GPU" | "CPU";
  /** True if the second endpoint, with its own template, exists. */
  second: boolean;
  /** True if the second endpoint has the template of the first one. */
  shared: boolean;
  /** Own variables of the endpoints, with REST v2. */
  own: string;
  image: string;
}

const first: Choices = {
  token: "token-value-0",
  description: "",
  password: "password-0",
  size: 10,
  dataCenter: "EU-RO-1",
  readme: "",
  variable: "1",
  workersMax: 3,
  gpus: ["NVIDIA L4"],
  computeType: "GPU",
  second: true,
  shared: true,
  own: "",
  image: "acme/chat:1",
};

/** Changes that REST v2 does not support: the readme and an updated password. */
const changesInV1: readonly ((number: number) => Partial<Choices>)[] =
  dialect === "v1"
    ? [(number) => ({ password: `password-${number}` }), (number) => ({ readme: `readme ${number}` })]
    : [];

/** A random, realistic change of a program. */
function changed(choices: Choices, random: Random): Choices {
  const number = random.int(1, 1000);
  const change = random.pick<(now: Choices) => Partial<Choices>>([
    () => ({ token: `token-value-${number}` }),
    () => ({ description: `description ${number}` }),
    ({ size }) => ({ size: Math.min(4000, size + number) }),
    () => ({ dataCenter: random.pick(["EU-RO-1", "US-KS-2", "EU-CZ-1"]) }),
    () => ({ variable: String(number) }),
    () => ({ workersMax: random.int(0, 9) }),
    () => ({ gpus: random.pick([["NVIDIA L4"], ["NVIDIA A40", "NVIDIA L4"], []]) }),
    ({ computeType }) => ({ computeType: computeType === "GPU" ? "CPU" : "GPU" }),
    ({ second }) => ({ second: !second }),
    ({ shared }) => ({ shared: !shared }),
    () => ({ image: `acme/chat:${random.int(1, 3)}` }),
    () => ({ own: dialect === "v2" ? random.pick(["", "1", "2"]) : "" }),
    ...changesInV1.map((change) => () => change(number)),
  ]);
  return { ...choices, ...change(choices) };
}

function programOf(choices: Choices): Declared[] {
  const reference = (outputs: Properties): string => String(outputs["reference"]);
  const template = (name: string): Declared => ({
    name,
    kind: "Template",
    level: 1,
    inputs: (of) => ({
      imageName: choices.image,
      env: { VARIABLE: choices.variable, TOKEN: reference(of("token").outputs) },
      ...(dialect === "v1" ? { readme: choices.readme } : {}),
      containerRegistryAuthId: of("registry").id,
    }),
  });
  const endpoint = (name: string, templateName: string): Declared => ({
    name,
    kind: "ServerlessEndpoint",
    level: 2,
    inputs: (of) => ({
      templateId: of(templateName).id,
      networkVolumeId: of("models").id,
      gpuTypeIds: choices.computeType === "GPU" ? choices.gpus : [],
      computeType: choices.computeType,
      workersMax: choices.workersMax,
      ...(choices.own === "" ? {} : { env: { OWN: choices.own, VARIABLE: `own-${choices.own}` } }),
    }),
  });
  const { token, description, password, size, dataCenter } = choices;
  const program: Declared[] = [
    { name: "token", kind: "Secret", level: 0, inputs: () => ({ value: token, description }) },
    { name: "registry", kind: "ContainerRegistryAuth", level: 0, inputs: () => ({ username: "robot", password }) },
    { name: "models", kind: "NetworkVolume", level: 0, inputs: () => ({ size, dataCenterId: dataCenter }) },
    { name: "cache", kind: "NetworkVolume", level: 0, inputs: () => ({ size, dataCenterId: dataCenter }) },
    template("chat"),
    endpoint("chat", "chat"),
    ...(choices.second
      ? [...(choices.shared ? [] : [template("other")]), endpoint("other", choices.shared ? "chat" : "other")]
      : []),
  ];
  return program.map(named);
}

/** Names are unique across all kinds, so that references resolve by the short name. */
function named(declared: Declared): Declared {
  const kindOf: Record<string, string> = {
    token: "Secret",
    registry: "ContainerRegistryAuth",
    models: "NetworkVolume",
  };
  return {
    ...declared,
    name: `${declared.kind}-${declared.name}`,
    inputs: (of) => declared.inputs((short) => of(`${kindOf[short] ?? "Template"}-${short}`)),
  };
}

/** A program that changes randomly in each step. */
export function createPrograms(random: Random) {
  let choices = first;
  let previous = first;
  return {
    current: () => programOf(choices),
    change(): void {
      previous = choices;
      choices = changed(choices, random);
    },
    /** Returns to the program before the last change; a volume cannot shrink. */
    undo(): void {
      choices = { ...previous, size: choices.size };
    },
  };
}
