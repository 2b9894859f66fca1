import { expect, test } from "vitest";
import { Unknown } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";

const { NetworkVolume, ServerlessEndpoint } = kinds;

test("ids outside the catalog cause a warning with the nearest known id", () => {
  const news = {
    gpuTypeIds: ["NVIDIA L44", "NVIDIA L4"],
    excludedGpuTypeIds: ["NVIDIA A400"],
    cpuFlavorIds: ["cpu3x"],
    dataCenterIds: ["EU-RO1", "moon"],
  };
  expect(ServerlessEndpoint.catalogWarnings({}, news, [])).toEqual([
    'gpuTypeIds: unknown GPU type "NVIDIA L44"; did you mean "NVIDIA L4"?',
    'cpuFlavorIds: unknown CPU flavour "cpu3x"; did you mean "cpu3c"?',
    'dataCenterIds: unknown data centre "EU-RO1"; did you mean "EU-RO-1"?',
    'dataCenterIds: unknown data centre "moon"; check that the service has it',
    'excludedGpuTypeIds: unknown GPU type "NVIDIA A400"; did you mean "NVIDIA A40"?',
  ]);
  expect(NetworkVolume.catalogWarnings({}, { dataCenterId: "EU-RO1" }, [])).toEqual([
    'dataCenterId: unknown data centre "EU-RO1"; did you mean "EU-RO-1"?',
  ]);
});

test("values in state, empty values, unknown values and secret values cause no warning", () => {
  const news = { gpuTypeIds: ["NVIDIA Z9"] };
  expect(ServerlessEndpoint.catalogWarnings(news, news, [])).toEqual([]);
  // The check reports it.
  expect(NetworkVolume.catalogWarnings({}, { dataCenterId: "" }, [])).toEqual([]);
  expect(
    ServerlessEndpoint.catalogWarnings({}, { gpuTypeIds: [Unknown.value], dataCenterIds: Unknown.value }, []),
  ).toEqual([]);
  expect(ServerlessEndpoint.catalogWarnings({}, news, [["gpuTypeIds", "0"]])).toEqual([]);
});
