import asyncio

import runpod


async def handler(job):
    await asyncio.sleep(0.01)
    return {"doubled": job["input"]["number"] * 2}


runpod.serverless.start({"handler": handler})
