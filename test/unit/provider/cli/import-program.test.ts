import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { goProject } from "../../../../provider/cli/project/go";
import { camelCase, resourceNames } from "../../../../provider/cli/project/identifiers";
import { type AccountObject, programOf } from "../../../../provider/cli/project/program";
import { pythonProject } from "../../../../provider/cli/project/python";
import { reportText } from "../../../../provider/cli/project/report";
import { snakeCase } from "../../../../provider/cli/project/text-layout";
import { typescriptProject } from "../../../../provider/cli/project/typescript";
import { yamlProject } from "../../../../provider/cli/project/yaml";
import { isObjectKind, type ObjectKind, objectKinds } from "../../../../provider/resources";

const project = { name: "imported", version: "1.2.3", plugin: "node_modules/p/bin" };
const object = (kind: ObjectKind, id: string, inputs: { name: string } & AccountObject["inputs"]): AccountObject => ({
  kind,
  id,
  name: inputs.name,
  inputs,
});

describe("the names of resources", () => {
  const namesOf = (names: string[]): string[] => {
    const nameFor = resourceNames();
    return names.map((name) => nameFor("Template", name));
  };

  test.each([
    ["chat", "chat-template"],
    ["Chat_Template", "chat-template"],
    ["template", "template"],
    ["delete", "delete-template"],
    ["__proto__", "proto-template"],
    ["3d-model", "template-3d-model"],
    ["Größe é", "gro-e-e-template"],
    ["模型", "template"],
    ["🚀 ", "template"],
    ["a/b.c:d", "a-b-c-d-template"],
  ])("%j becomes %s", (objectName, name) => expect(namesOf([objectName])).toEqual([name]));

  test("are distinct in every spelling", () => {
    const names = namesOf(["chat", "chat", "CHAT", "c-hat", "chat 2", "模型", "数据", "chat-template-2"]);
    for (const spelling of [camelCase, snakeCase, (name: string) => name])
      expect(new Set(names.map((name) => spelling(name).toLowerCase())).size).toBe(names.length);
    expect(names.slice(0, 3)).toEqual(["chat-template", "chat-template-2", "chat-template-3"]);
  });

  test("of different kinds are distinct", () => {
    const nameFor = resourceNames();
    const names = Object.keys(objectKinds).flatMap((kind) => (isObjectKind(kind) ? nameFor(kind, "models") : []));
    expect(names).toHaveLength(5);
    expect(new Set(names).size).toBe(names.length);
  });

  test("are numbered for 10,000 objects of the same name", () => {
    expect(namesOf(Array.from({ length: 10_000 }, () => "chat")).at(-1)).toBe("chat-template-10000");
  });

  test("become valid identifiers in TypeScript and Python", () => {
    for (const name of namesOf(["class", "None", "1", "é", "a b", "import", "package"])) {
      expect(camelCase(name)).toMatch(/^[a-z][A-Za-z0-9]*$/);
      expect(snakeCase(name)).toMatch(/^[a-z][a-z0-9_]*$/);
    }
  });
});

/** A reference in a program in YAML, and in a shell. */
const ref = (text: string): string => `\${${text}}`;
const reference = "{{ RUNPOD_SECRET_HF_TOKEN }}";
const program = programOf([
  object("ServerlessEndpoint", "e1", {
    name: "chat -fb",
    templateId: "t1",
    networkVolumeIds: ["v1", "v2"],
    workersMax: 3,
    workersMin: 1,
    gpuTypeIds: ["NVIDIA L4"],
    scalerValue: 0.5,
    flashboot: false,
  }),
  object("Template", "t1", {
    name: "chat",
    imageName: "acme/echo:1",
    containerDiskInGb: 50,
    startSsh: false,
    startJupyter: true,
    env: { TOKEN: reference, HINT: `x${reference}`, ENDPOINT: "e1", "A B": `${ref("HOME")} $$ $` },
    ports: "",
  }),
  object("NetworkVolume", "v2", { name: "models", size: 20, dataCenterId: "EU-RO-1" }),
  object("NetworkVolume", "v1", { name: "models", size: 10, dataCenterId: "EU-RO-1" }),
  object("ContainerRegistryAuth", "r1", { name: "registry" }),
  object("Secret", "s1", { name: "HF_TOKEN", description: 'a "b"' }),
]);

test.each(["2026", "2026-11-29", "1e3", "true", "null", "go", "con"])(
  "a project in a folder %s has its name, and a module that Go accepts",
  (name) => {
    for (const create of [typescriptProject, yamlProject, pythonProject, goProject])
      expect(parse(create(program, { ...project, name })["Pulumi.yaml"] ?? "")).toMatchObject({ name });
    expect(goProject(program, { ...project, name })["go.mod"]).toMatch(/^module program\n/);
  },
);

test.each([0x7f, 0x85, 0x9b, 0x2028, 0x2029, 0x202e, 0x2066, 0xfeff])(
  "the invisible character %i is an escape in every language",
  (code) => {
    const char = String.fromCharCode(code);
    const inputs = { name: "chat", imageName: "i", env: { [`a${char}`]: `b${char}c` } };
    const programWithChar = programOf([object("Template", "t1", inputs)]);
    for (const create of [typescriptProject, yamlProject, pythonProject, goProject]) {
      const text = Object.values(create(programWithChar, project)).join();
      expect(text).not.toContain(char);
      expect(text).toContain(`"b\\u${code.toString(16).padStart(4, "0")}c"`);
    }
    const { resources } = parse(yamlProject(programWithChar, project)["Pulumi.yaml"] ?? "");
    expect(resources["chat-template"].properties).toEqual(inputs);
  },
);

test("YAML escapes references in keys, as in values", () => {
  const inputs = { name: "chat", imageName: "i", env: { [ref("A")]: "1", $B: ref("C"), [`$${ref("D")}`]: "2" } };
  const text = yamlProject(programOf([object("Template", "t1", inputs)]), project)["Pulumi.yaml"];
  expect(text).toContain(`"$${ref("A")}": "1"`);
  expect(text).toContain(`"$B": "$${ref("C")}"`);
  expect(text).toContain(`"$$$${ref("D")}": "2"`);
});

test("the next steps are commands that a shell splits into words", () => {
  const report = {
    folder: "it's my account",
    language: "yaml" as const,
    resources: [],
    config: [],
    settings: [{ name: "url", value: "http://127.0.0.1:7337/a?b&c" }],
    skipped: [],
    noCounterpart: [],
  };
  const text = reportText(report);
  expect(text).toContain("\n  cd 'it'\\''s my account'\n");
  expect(text).toContain("\n  pulumi config set serverless-compute:url 'http://127.0.0.1:7337/a?b&c'\n");
});

test("resources refer to earlier resources and to the stack's config, and omit defaults", () => {
  expect(typescriptProject(program, project)["index.ts"]).toBe(`import * as pulumi from "@pulumi/pulumi";
import * as serverless from "pulumi-serverless-compute-sdk";

const config = new pulumi.Config();

const hfTokenSecret = new serverless.Secret("hf-token-secret", {
  name: "HF_TOKEN",
  value: config.requireSecret("hfTokenSecretValue"),
  description: "a \\"b\\"",
}, { ignoreChanges: ["value"] });

const modelsVolume = new serverless.NetworkVolume("models-volume", { name: "models", size: 10, dataCenterId: "EU-RO-1" });

const modelsVolume2 = new serverless.NetworkVolume("models-volume-2", { name: "models", size: 20, dataCenterId: "EU-RO-1" });

const registryCredentials = new serverless.ContainerRegistryAuth("registry-credentials", {
  name: "registry",
  username: config.requireSecret("registryCredentialsUsername"),
  password: config.requireSecret("registryCredentialsPassword"),
}, { ignoreChanges: ["username", "password"] });

const chatTemplate = new serverless.Template("chat-template", {
  name: "chat",
  imageName: "acme/echo:1",
  env: {
    TOKEN: hfTokenSecret.reference,
    HINT: "x{{ RUNPOD_SECRET_HF_TOKEN }}",
    ENDPOINT: "e1",
    "A B": "\${HOME} $$ $",
  },
  startSsh: false,
  startJupyter: true,
});

const chatEndpoint = new serverless.ServerlessEndpoint("chat-endpoint", {
  name: "chat -fb",
  templateId: chatTemplate.id,
  gpuTypeIds: ["NVIDIA L4"],
  networkVolumeIds: [modelsVolume.id, modelsVolume2.id],
  scalerValue: 0.5,
  workersMin: 1,
});
`);
});

test.each([typescriptProject, pythonProject, goProject])(
  "a project of %o declares the values of its config as secrets",
  (write) => {
    const withConfig = parse(write(program, project)["Pulumi.yaml"] ?? "");
    expect(Object.keys(withConfig.config)).toEqual(program.config);
    expect(Object.values(withConfig.config)).toEqual(program.config.map(() => ({ type: "string", secret: true })));
    expect(parse(write(programOf([]), project)["Pulumi.yaml"] ?? "")).not.toHaveProperty("config");
  },
);

test.each([
  ["node_modules/pulumi-serverless-compute/bin", { "pulumi-serverless-compute": "1.2.3" }],
  ["../node_modules/pulumi-serverless-compute/bin", {}],
])("a project in TypeScript with the plugin %s requires the package only for its own plugin", (plugin, expected) => {
  const { dependencies } = JSON.parse(typescriptProject(program, { ...project, plugin })["package.json"] ?? "");
  expect(dependencies).toEqual({
    "@pulumi/pulumi": "^3.200.0",
    "pulumi-serverless-compute-sdk": "file:sdks/nodejs",
    ...expected,
  });
});

test("a program in Python has the same resources", () => {
  expect(pythonProject(program, project)["__main__.py"]).toBe(`import pulumi
import pulumi_serverless_compute as serverless

config = pulumi.Config()

hf_token_secret = serverless.Secret(
    "hf-token-secret",
    name="HF_TOKEN",
    value=config.require_secret("hfTokenSecretValue"),
    description="a \\"b\\"",
    opts=pulumi.ResourceOptions(ignore_changes=["value"]),
)

models_volume = serverless.NetworkVolume(
    "models-volume",
    name="models",
    size=10,
    data_center_id="EU-RO-1",
)

models_volume_2 = serverless.NetworkVolume(
    "models-volume-2",
    name="models",
    size=20,
    data_center_id="EU-RO-1",
)

registry_credentials = serverless.ContainerRegistryAuth(
    "registry-credentials",
    name="registry",
    username=config.require_secret("registryCredentialsUsername"),
    password=config.require_secret("registryCredentialsPassword"),
    opts=pulumi.ResourceOptions(ignore_changes=["username", "password"]),
)

chat_template = serverless.Template(
    "chat-template",
    name="chat",
    image_name="acme/echo:1",
    env={
        "TOKEN": hf_token_secret.reference,
        "HINT": "x{{ RUNPOD_SECRET_HF_TOKEN }}",
        "ENDPOINT": "e1",
        "A B": "${ref("HOME")} $$ $",
    },
    start_ssh=False,
    start_jupyter=True,
)

chat_endpoint = serverless.ServerlessEndpoint(
    "chat-endpoint",
    name="chat -fb",
    template_id=chat_template.id,
    gpu_type_ids=["NVIDIA L4"],
    network_volume_ids=[models_volume.id, models_volume_2.id],
    scaler_value=0.5,
    workers_min=1,
)
`);
});

test("a program in Go declares variables only for resources that others refer to", () => {
  const { "main.go": text = "", "go.mod": module } = goProject(program, project);
  expect(module).toContain("replace serverless-compute.example/sdk/go/serverlesscompute => ./sdks/go");
  expect(text).toContain(`
		_, err = serverless.NewContainerRegistryAuth(ctx, "registry-credentials", &serverless.ContainerRegistryAuthArgs{
			Name:     pulumi.String("registry"),
			Username: cfg.RequireSecret("registryCredentialsUsername"),
			Password: cfg.RequireSecret("registryCredentialsPassword"),
		}, pulumi.IgnoreChanges([]string{"username", "password"}))
		if err != nil {
			return err
		}
		chatTemplate, err := serverless.NewTemplate(ctx, "chat-template", &serverless.TemplateArgs{
			Name:      pulumi.String("chat"),
			ImageName: pulumi.String("acme/echo:1"),
			Env: pulumi.StringMap{
				"TOKEN":    hfTokenSecret.Reference,
				"HINT":     pulumi.String("x{{ RUNPOD_SECRET_HF_TOKEN }}"),
				"ENDPOINT": pulumi.String("e1"),
				"A B":      pulumi.String("${ref("HOME")} $$ $"),
			},
			StartSsh:     pulumi.Bool(false),
			StartJupyter: pulumi.Bool(true),
		})
		if err != nil {
			return err
		}
		_, err = serverless.NewServerlessEndpoint(ctx, "chat-endpoint", &serverless.ServerlessEndpointArgs{
			Name:             pulumi.String("chat -fb"),
			TemplateId:       chatTemplate.ID(),
			GpuTypeIds:       pulumi.StringArray{pulumi.String("NVIDIA L4")},
			NetworkVolumeIds: pulumi.StringArray{modelsVolume.ID(), modelsVolume2.ID()},
			ScalerValue:      pulumi.Float64(0.5),
			WorkersMin:       pulumi.Int(1),
		})
`);
});

test("a program in YAML has the same resources, with its texts escaped", () => {
  const text = yamlProject(program, project)["Pulumi.yaml"] ?? "";
  const { resources, config, ...others } = parse(text);
  expect(others).toMatchObject({ name: "imported", runtime: "yaml", plugins: { providers: [{ version: "1.2.3" }] } });
  expect(Object.keys(config)).toEqual(program.config);
  expect(resources["chat-template"]).toEqual({
    type: "serverless-compute:Template",
    properties: {
      name: "chat",
      imageName: "acme/echo:1",
      startSsh: false,
      startJupyter: true,
      env: {
        TOKEN: ref("hf-token-secret.reference"),
        HINT: `x${reference}`,
        ENDPOINT: "e1",
        "A B": `$${ref("HOME")} $$$ $`,
      },
    },
  });
  expect(resources["chat-endpoint"].properties).toMatchObject({
    templateId: ref("chat-template.id"),
    networkVolumeIds: [ref("models-volume.id"), ref("models-volume-2.id")],
    scalerValue: 0.5,
    workersMin: 1,
  });
  expect(resources["registry-credentials"].options).toEqual({ ignoreChanges: ["username", "password"] });
});

test("strings that YAML could read as other types stay strings", () => {
  const texts = ["", "true", "NO", "1.5", "1e3", "a: b", "a #b", "- a", " a", "a ", "a:", "~", "null", "é", "a\nb"];
  texts.push("{a}", "y", "@a", "0x1f", "a:b");
  const env = Object.fromEntries(texts.map((text) => [`${text}K`, text]));
  const templateProgram = programOf([object("Template", "t1", { name: "chat", imageName: "i", env })]);
  const { resources } = parse(yamlProject(templateProgram, project)["Pulumi.yaml"] ?? "");
  expect(resources["chat-template"].properties.env).toEqual(env);
});
