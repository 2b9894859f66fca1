"""Deploys a volume and an endpoint with the public flash package; prints one JSON line."""

import asyncio
import json
import os
import sys

os.environ["RUNPOD_API_KEY"] = sys.stdin.readline().strip()

from runpod_flash import DataCenter, GpuGroup, NetworkVolume, ServerlessEndpoint
from runpod_flash.core.api.runpod import RunpodGraphQLClient


def volume():
    return NetworkVolume(name="flash-volume", datacenter=DataCenter.EU_RO_1, size=20)


async def main():
    said = {}
    made = await volume()._do_deploy()
    said["volume"] = made.model_dump(mode="json")
    said["found"] = (await volume()._do_deploy()).id == made.id
    settings = {"name": "flash-endpoint", "imageName": "acme/echo:1", "gpus": [GpuGroup.AMPERE_24], "workersMax": 1}
    endpoint = await ServerlessEndpoint(**settings, networkVolume=made)._do_deploy()
    async with RunpodGraphQLClient() as client:
        said["stock"] = await client.get_gpu_lowest_price_stock_status("NVIDIA A40", 1, "EU-RO-1")
        said["cpu_stock"] = await client.get_cpu_specific_stock_status("cpu3c", "cpu3c-2-4", "EU-RO-1")
        said["exists"] = await client.endpoint_exists(endpoint.id)
        said["image"] = (await client.get_template(endpoint.templateId))["imageName"]
        said["undeployed"] = await endpoint._do_undeploy()
        said["left"] = await client.endpoint_exists(endpoint.id)
    print(json.dumps(said))


asyncio.run(main())
