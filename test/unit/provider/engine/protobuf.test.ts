import { Alias } from "@pulumi/pulumi/proto/alias_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb";
import fc from "fast-check";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import { describe, expect, test, vi } from "vitest";
import * as messages from "../../../../provider/engine/messages";
import { message, text } from "../../../../provider/engine/protobuf";
import { struct } from "../../../../provider/engine/protobuf-struct";
import { engineProperties } from "../../../support/property-sets";

/** Random messages for each comparison; 100,000 in total in full runs. */
const numRuns = process.env["FULL"] ? 25_000 : 200;
if (process.env["FULL"]) vi.setConfig({ testTimeout: 600_000 });

/** Unicode strings without lone surrogates; in full runs any code points, of which fast-check makes a table in a second. */
const unit = process.env["FULL"] ? "binary" : "grapheme";
const anyText = fc.string({ unit });
/** JSON as the engine encodes it: -0 becomes 0. */
const json = fc.jsonValue({ stringUnit: unit, maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)));
/** Objects without a key named __proto__, which Pulumi's codec loses. */
const object = fc
  .dictionary(anyText, json, { maxKeys: 6 })
  .filter((value) => !JSON.stringify(value).includes('"__proto__"'));
const seconds = fc.integer({ min: 0, max: 1e6 });

const toPulumiStruct = (value: Record<string, JavaScriptValue>): Struct => Struct.fromJavaScript(value);
const check = <Values>(property: fc.IProperty<Values>): void => fc.assert(property, { numRuns });

describe("Pulumi's codec and ours read each other's messages", () => {
  const envelope = message({ id: text(1), urn: text(2), properties: struct(3) });

  test("a struct, from ours to Pulumi's", () => {
    check(
      fc.property(anyText, object, (id, properties) => {
        const read = pb.ReadRequest.deserializeBinary(envelope.encode({ id, properties }));
        expect(read.getId()).toBe(id);
        expect(read.getProperties()?.toJavaScript()).toEqual(properties);
      }),
    );
  });

  test("a struct, from Pulumi's to ours", () => {
    check(
      fc.property(anyText, object, (urn, properties) => {
        const written = new pb.ReadRequest();
        written.setUrn(urn);
        written.setProperties(toPulumiStruct(properties));
        // Fields missing from our table, before and after known fields.
        written.setTimeout(3.5);
        written.setName("skipped");
        expect(envelope.decode(Buffer.from(written.serializeBinary()))).toEqual({ id: "", urn, properties });
      }),
    );
  });

  test("requests", () => {
    check(
      fc.property(anyText, object, object, seconds, fc.boolean(), (id, olds, news, timeout, preview) => {
        const update = new pb.UpdateRequest();
        update.setId(id);
        update.setUrn(id);
        update.setOlds(toPulumiStruct(olds));
        update.setNews(toPulumiStruct(news));
        update.setTimeout(timeout / 7);
        update.setPreview(preview);
        update.setIgnorechangesList(["a", "b"]);
        const read = messages.updateRequest.decode(Buffer.from(update.serializeBinary()));
        expect(read).toEqual({
          id,
          urn: id,
          olds: engineProperties(olds),
          news: engineProperties(news),
          timeout: timeout / 7,
          preview,
        });

        const request = new pb.CheckRequest();
        const autonaming = new pb.CheckRequest.AutonamingOptions();
        autonaming.setProposedName(id);
        autonaming.setMode(pb.CheckRequest.AutonamingOptions.Mode.DISABLE);
        request.setAutonaming(autonaming);
        request.setRandomseed(new Uint8Array(32));
        expect(messages.checkRequest.decode(Buffer.from(request.serializeBinary()))).toEqual({
          urn: "",
          olds: engineProperties({}),
          news: engineProperties({}),
          randomSeed: Buffer.alloc(32),
          autonaming: { proposedName: id, mode: messages.autonamingDisabled },
        });
      }),
    );
  });

  test("responses", () => {
    const paths = fc.uniqueArray(anyText, { maxLength: 4 });
    check(
      fc.property(object, paths, fc.boolean(), anyText, (properties, keys, deleteBeforeReplace, reason) => {
        const set = engineProperties(properties);
        const diff = pb.DiffResponse.deserializeBinary(
          messages.diffResponse.encode({
            replaces: keys,
            stables: ["", ...keys],
            diffs: keys,
            deleteBeforeReplace,
            hasDetailedDiff: true,
            changes: messages.diffChanges.some,
            detailedDiff: new Map(keys.map((key, index) => [key, { kind: index % 6 }])),
          }),
        );
        expect(diff.getReplacesList()).toEqual(keys);
        expect(diff.getStablesList()).toEqual(["", ...keys]);
        expect(diff.getDiffsList()).toEqual(keys);
        expect([diff.getDeletebeforereplace(), diff.getHasdetaileddiff()]).toEqual([deleteBeforeReplace, true]);
        expect(diff.getChanges()).toBe(pb.DiffResponse.DiffChanges.DIFF_SOME);
        const kinds = keys.map((key) => diff.getDetaileddiffMap().get(key)?.getKind());
        expect(kinds).toEqual(keys.map((_, index) => index % 6));

        const checked = pb.CheckResponse.deserializeBinary(
          messages.checkResponse.encode({ inputs: set, failures: [{ property: "", reason }] }),
        );
        expect(checked.getInputs()?.toJavaScript()).toEqual(properties);
        expect(checked.getFailuresList().map((failure) => failure.getReason())).toEqual([reason]);

        const kept = messages.initFailed.encode({ id: reason, properties: set, reasons: [reason] });
        const failed = pb.ErrorResourceInitFailed.deserializeBinary(kept);
        expect(failed.getProperties()?.toJavaScript()).toEqual(properties);
        expect(failed.getReasonsList()).toEqual([reason]);
        const any = Any.deserializeBinary(
          message({ typeUrl: text(1), value: text(2) }).encode({ typeUrl: "t", value: "v" }),
        );
        expect([any.getTypeUrl(), Buffer.from(any.getValue_asU8()).toString()]).toEqual(["t", "v"]);
      }),
    );
  });
});

test("a list's request, and each message of its stream", () => {
  const request = new pb.ListRequest();
  request.setToken("serverless-compute:index:Secret");
  request.setQuery(toPulumiStruct({ namePrefix: "a" }));
  request.setLimit(7);
  request.setPageSize(3);
  request.setContinuationToken("3:x");
  expect(messages.listRequest.decode(Buffer.from(request.serializeBinary()))).toEqual({
    token: "serverless-compute:index:Secret",
    query: engineProperties({ namePrefix: "a" }),
    limit: 7,
    pageSize: 3,
    continuationToken: "3:x",
  });
  const read = (value: Parameters<typeof messages.listResponse.encode>[0]): pb.ListResponse.AsObject =>
    pb.ListResponse.deserializeBinary(messages.listResponse.encode(value)).toObject();
  expect(read({ result: { id: "s1", name: "token" } })).toEqual({ result: { id: "s1", name: "token" } });
  expect(read({ continuation: { continuationToken: "1:s1" } })).toEqual({
    continuation: { continuationToken: "1:s1" },
  });
  expect(read({ computed: {} })).toEqual({ computed: {} });
});

describe("the options of a component", () => {
  const custom = new pb.ConstructRequest.CustomTimeouts();
  custom.setCreate("90s");
  const alias = new Alias();
  alias.setUrn("urn:pulumi:dev::shop::a:b:C::old");
  const hooks = new pb.ConstructRequest.ResourceHooksBinding();
  hooks.setAfterCreateList(["note"]);

  test("are copied unchanged from a ConstructRequest to a RegisterResourceRequest", () => {
    const sentRequest = new pb.ConstructRequest();
    sentRequest.setDryrun(true);
    sentRequest.setMonitorendpoint("127.0.0.1:1");
    sentRequest.setType("a:b:C");
    sentRequest.setName("chat");
    sentRequest.setParent("urn:parent");
    sentRequest.setInputs(toPulumiStruct({ template: { imageName: "a:1" } }));
    const urns = new pb.ConstructRequest.PropertyDependencies();
    urns.setUrnsList(["urn:a", "urn:b"]);
    sentRequest.getInputdependenciesMap().set("template", urns);
    sentRequest.setProtect(false);
    sentRequest.getProvidersMap().set("serverless-compute", "urn:provider::id");
    sentRequest.setDependenciesList(["urn:a"]);
    sentRequest.setCustomtimeouts(custom);
    sentRequest.setDeletedwith("urn:gone");
    sentRequest.setRetainondelete(true);
    sentRequest.setResourceHooks(hooks);
    sentRequest.setStackTraceHandle("trace");
    sentRequest.setReplaceWithList(["urn:c"]);
    sentRequest.setAliasesList([alias]);
    const read = messages.constructRequest.decode(Buffer.from(sentRequest.serializeBinary()));
    const { dryRun, monitorEndpoint, inputs, inputDependencies, ...options } = read;
    expect({ dryRun, monitorEndpoint, inputs }).toEqual({
      dryRun: true,
      monitorEndpoint: "127.0.0.1:1",
      inputs: engineProperties({ template: { imageName: "a:1" } }),
    });

    const written = messages.registerResourceRequest.encode({
      ...options,
      custom: true,
      acceptSecrets: true,
      supportsPartialValues: true,
      aliasSpecs: true,
      object: engineProperties({ a: 1 }),
      propertyDependencies: inputDependencies,
    });
    const registration = RegisterResourceRequest.deserializeBinary(written);
    expect(registration.toObject()).toMatchObject({
      type: "a:b:C",
      name: "chat",
      parent: "urn:parent",
      custom: true,
      protect: false,
      retainondelete: true,
      acceptsecrets: true,
      supportspartialvalues: true,
      aliasspecs: true,
      deletedwith: "urn:gone",
      dependenciesList: ["urn:a"],
      replaceWithList: ["urn:c"],
      parentstacktracehandle: "trace",
      customtimeouts: { create: "90s", update: "", pb_delete: "" },
      aliasesList: [{ urn: "urn:pulumi:dev::shop::a:b:C::old" }],
      hooks: { afterCreateList: ["note"] },
      providersMap: [["serverless-compute", "urn:provider::id"]],
      propertydependenciesMap: [["template", { urnsList: ["urn:a", "urn:b"] }]],
    });
    expect(registration.getObject()?.toJavaScript()).toEqual({ a: 1 });
  });

  test("stay absent if absent", () => {
    const { protect, retainOnDelete } = messages.constructRequest.decode(Buffer.alloc(0));
    const registration = RegisterResourceRequest.deserializeBinary(
      messages.registerResourceRequest.encode({ protect, retainOnDelete }),
    );
    expect([registration.hasProtect(), registration.hasRetainondelete()]).toEqual([false, false]);
  });
});

test("the numbers of changes and kinds match the protocol", () => {
  expect(messages.diffChanges).toEqual({
    none: pb.DiffResponse.DiffChanges.DIFF_NONE,
    some: pb.DiffResponse.DiffChanges.DIFF_SOME,
  });
  const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE, UPDATE_REPLACE } = pb.PropertyDiff.Kind;
  expect(messages.diffKinds).toEqual({
    add: [ADD, ADD_REPLACE],
    delete: [DELETE, DELETE_REPLACE],
    update: [UPDATE, UPDATE_REPLACE],
  });
  expect(messages.autonamingDisabled).toBe(pb.CheckRequest.AutonamingOptions.Mode.DISABLE);
});
