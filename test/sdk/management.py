"""Calls the public SDK's management functions and its asynchronous client; prints one JSON line."""

import asyncio
import json
import sys

import aiohttp
import runpod
from runpod.http_client import AsyncClientSession

runpod.api_key = sys.stdin.readline().strip()
said = {}


def management():
    yield "update_user_settings", runpod.update_user_settings("ssh-ed25519 AAAA")["pubKey"]
    yield "get_user", runpod.get_user()["pubKey"]
    yield "get_pods", runpod.get_pods()
    yield "get_gpus", len(runpod.get_gpus()) > 10
    yield "get_gpu", runpod.get_gpu("NVIDIA A40")["memoryInGb"]
    auth = runpod.create_container_registry_auth("sdk-registry", "reader", "hush-hush")
    yield "create_container_registry_auth", auth["name"]
    changed = runpod.update_container_registry_auth(auth["id"], "reader", "hush-again")
    yield "update_container_registry_auth", changed["id"] == auth["id"]
    first = runpod.create_template(
        name="sdk-first", image_name=sys.argv[2], is_serverless=True, env={"A": "1"}, registry_auth_id=auth["id"]
    )
    second = runpod.create_template(name="sdk-second", image_name=sys.argv[2], is_serverless=True)
    yield "create_template", [first["name"], second["name"]]
    endpoint = runpod.create_endpoint(name="sdk-endpoint", template_id=first["id"], gpu_ids="AMPERE_24", workers_max=1)
    yield "create_endpoint", endpoint["templateId"] == first["id"]
    yield "get_endpoints", endpoint["id"] in [one["id"] for one in runpod.get_endpoints()]
    swapped = runpod.update_endpoint_template(endpoint["id"], second["id"])
    yield "update_endpoint_template", swapped["templateId"] == second["id"]
    yield "delete_container_registry_auth", runpod.delete_container_registry_auth(auth["id"])


async def asynchronous():
    async with AsyncClientSession() as session:
        endpoint = runpod.AsyncioEndpoint(sys.argv[1], session)
        job = await endpoint.run({"text": "hello"})
        yield "output", await job.output(timeout=30)
        yield "status", await job.status()
        said["health"] = "jobs" in await endpoint.health()
        running = await endpoint.run({"do": "progress", "seconds": 20})
        yield "cancel", (await running.cancel())["status"]
        streaming = await runpod.AsyncioEndpoint(sys.argv[3], session).run({"count": 3})
        yield "stream", [chunk async for chunk in streaming.stream()]
    async with aiohttp.ClientSession() as session:
        streaming = await runpod.AsyncioEndpoint(sys.argv[3], session).run({"count": 2})
        yield "plain_session", [chunk async for chunk in streaming.stream()]


async def collect():
    async for name, value in asynchronous():
        said[name] = value


said["management"] = dict(management())
asyncio.run(collect())
print(json.dumps(said))
