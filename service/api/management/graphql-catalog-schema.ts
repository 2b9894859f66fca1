/** GraphQL types of the catalog. */
export const catalogSchema = /* GraphQL */ `
  type GpuPool { id: String gpuTypeIds: [String] }
  type GpuType {
    id: String
    displayName: String
    manufacturer: String
    memoryInGb: Int
    cudaCores: Int
    maxGpuCount: Int
    secureCloud: Boolean
    communityCloud: Boolean
    securePrice: Float
    communityPrice: Float
    secureSpotPrice: Float
    communitySpotPrice: Float
    oneWeekPrice: Float
    oneMonthPrice: Float
    threeMonthPrice: Float
    sixMonthPrice: Float
    lowestPrice(input: GpuLowestPriceInput): LowestPrice
  }
  input GpuTypeFilter { id: String ids: [String] cluster: Boolean }
  type LowestPrice {
    gpuName: String
    gpuTypeId: String
    gpuTypeCudaVersions: [GpuTypeCudaVersion]
    minimumBidPrice: Float
    uninterruptablePrice: Float
    rentedCount: Int
    totalCount: Int
    minVcpu: Int
    minMemory: Int
    stockStatus: String
    compliance: [String]
    maxUnreservedGpuCount: Int
  }
  type GpuTypeCudaVersion { cudaVersion: String availability: String }
  input GpuLowestPriceInput {
    gpuCount: Int
    minDisk: Int
    minMemoryInGb: Int
    minVcpuCount: Int
    secureCloud: Boolean
    compliance: [String]
    dataCenterId: String
    globalNetwork: Boolean
    allowedCudaVersions: [String]
    "Accepted and without effect here."
    includeAiApi: Boolean
  }
  type CpuFlavor {
    id: String
    groupId: String
    groupName: String
    displayName: String
    minVcpu: Float
    maxVcpu: Int
    vcpuBurstable: Boolean
    ramMultiplier: Float
    diskLimitPerVcpu: Int
    specifics(input: SpecificsInput): Specifics
  }
  type Specifics { stockStatus: String securePrice: Float slsPrice: Float }
  input SpecificsInput { dataCenterId: String instanceId: String isSls: Boolean }
  input CpuFlavorInput { id: String slsOnly: Boolean isSls: Boolean }
  type DataCenter {
    id: String
    name: String
    location: String
    region: String
    listed: Boolean
    storageSupport: Boolean
    globalNetwork: Boolean
    compliance: [String]
    gpuAvailability(input: GpuLowestPriceInput): [GpuAvailability]
  }
  type GpuAvailability {
    available: Boolean
    stockStatus: String
    gpuTypeId: String
    displayName: String
    gpuTypeDisplayName: String
  }
`;
