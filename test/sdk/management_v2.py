"""Calls the management functions, the asynchronous client and the apps client of version 2 of the public SDK; prints one JSON line."""

import asyncio
import json
import os
import sys

# The SDK reads the key when it is imported.
os.environ["RUNPOD_API_KEY"] = sys.stdin.readline().strip()

import aiohttp
import runpod
from runpod.apps.api import AppsApiClient
from runpod.apps.targets import LiveTarget
from runpod.http_client import AsyncClientSession

plain, image, generator = sys.argv[1:4]
said = {}


def management():
    yield "update_user_settings", runpod.update_user_settings("ssh-ed25519 AAAA")["pubKey"]
    yield "get_user", runpod.get_user()["pubKey"]
    yield "get_pods", runpod.get_pods()
    yield "get_gpus", len(runpod.get_gpus()) > 10
    yield "get_gpu", runpod.get_gpu("NVIDIA A40")["memory"]
    auth = runpod.create_container_registry_auth("sdk-registry", "reader", "hush-hush")
    yield "create_container_registry_auth", auth["name"]
    changed = runpod.update_container_registry_auth(auth["id"], "reader", "hush-again")
    yield "update_container_registry_auth", changed["id"] == auth["id"]
    first = runpod.create_template(
        name="sdk-first", image_name=image, is_serverless=True, env={"A": "1"}, registry_auth_id=auth["id"]
    )
    second = runpod.create_template(name="sdk-second", image_name=f"{image}-second", is_serverless=True)
    yield "create_template", [first["name"], second["name"]]
    endpoint = runpod.create_endpoint(name="sdk-endpoint", template_id=first["id"], gpu_ids="AMPERE_24", workers_max=1)
    yield "create_endpoint", endpoint["image"]
    yield "get_endpoints", endpoint["id"] in [one["id"] for one in runpod.get_endpoints()]
    yield "update_endpoint_template", runpod.update_endpoint_template(endpoint["id"], second["id"])["image"]
    yield "delete_container_registry_auth", runpod.delete_container_registry_auth(auth["id"])


async def asynchronous():
    async with AsyncClientSession() as session:
        endpoint = runpod.AsyncioEndpoint(plain, session)
        job = await endpoint.run({"text": "hello"})
        yield "output", await job.output(timeout=30)
        yield "status", await job.status()
        yield "health", "jobs" in await endpoint.health()
        running = await endpoint.run({"do": "progress", "seconds": 20})
        yield "cancel", (await running.cancel())["status"]
        streaming = await runpod.AsyncioEndpoint(generator, session).run({"count": 3})
        yield "stream", [chunk async for chunk in streaming.stream()]
    async with aiohttp.ClientSession() as session:
        streaming = await runpod.AsyncioEndpoint(generator, session).run({"count": 2})
        yield "plain_session", [chunk async for chunk in streaming.stream()]


async def apps():
    client = AppsApiClient()
    place = "EU-RO-1"
    volume = await client.create_network_volume("sdk-volume", 20, place)
    yield "list_network_volumes", volume["id"] in [one["id"] for one in await client.list_network_volumes()]
    yield "network_volume_datacenters", place in await client.network_volume_datacenters()
    auth = await client.create_registry_auth("sdk-app-registry", "reader", "hush-hush")
    yield "list_registry_auths", auth["id"] in [one["id"] for one in await client.list_registry_auths()]
    yield "delete_registry_auth", await client.delete_registry_auth(auth["id"])
    secret = await client.create_secret("sdk_secret", "hush-value")
    yield "list_secrets", secret["id"] in [one["id"] for one in await client.list_secrets()]
    await client.delete_secret(secret["id"])
    left = [one["name"] for one in await client.list_secrets()]
    yield "delete_secret", left
    yield "gpu_stock_status", await client.gpu_stock_status("NVIDIA A40", place)
    yield "cpu_stock_status", await client.cpu_stock_status("cpu3c-2-4", place)
    # Only GraphQL has flavours with one virtual CPU.
    yield "cpu_stock_status of one vCPU", await client.cpu_stock_status("cpu3c-1-2", place)
    settings = {"name": "sdk-app", "workersMax": 1, "scalerType": "QUEUE_DELAY", "scalerValue": 4}
    template = {"imageName": image, "containerDiskInGb": 5, "dockerArgs": "", "env": []}
    endpoint = await client.save_endpoint(
        {**settings, "type": "QB", "gpuIds": "AMPERE_24", "networkVolumeIds": [{"networkVolumeId": volume["id"]}], "template": template}
    )
    yield "save_endpoint", endpoint["networkVolumes"] == [volume["id"]]
    yield "list_my_endpoints", endpoint["id"] in [one["id"] for one in await client.list_my_endpoints()]
    yield "endpoint_workers", (await client.endpoint_workers(endpoint["id"]))["workers"]
    changed = await client.save_endpoint({"id": endpoint["id"], "workersMax": 2})
    yield "save_endpoint of an existing endpoint", changed["workers"]["max"]
    small = await client.save_endpoint({**settings, "name": "sdk-small", "instanceIds": ["cpu3c-1-2"], "template": template})
    yield "save_endpoint with one vCPU", small["instanceIds"]
    yield "delete_endpoint", [await client.delete_endpoint(one["id"]) for one in (endpoint, small)]


async def jobs():
    target = LiveTarget(plain)
    yield "invoke", (await target.invoke({"input": {"text": "now"}}))["echo"]
    job = await target.submit({"input": {"text": "later"}})
    yield "wait", (await target.wait(job))["echo"]
    yield "job_status", (await target.job_status(job["id"]))["status"]
    running = await target.submit({"input": {"do": "progress", "seconds": 20}})
    yield "cancel_job", (await target.cancel_job(running["id"]))["status"]
    streaming = LiveTarget(generator)
    started = await streaming.submit({"input": {"count": 3}})
    yield "stream_job", [chunk async for chunk in streaming.stream_job(started["id"])]


async def collect(steps):
    return {name: value async for name, value in steps}


said["management"] = dict(management())
for name, steps in (("asynchronous", asynchronous), ("apps", apps), ("jobs", jobs)):
    said[name] = asyncio.run(collect(steps()))
print(json.dumps(said))
