import runpod


def handler(job):
    wanted = job["input"].get("do")
    if wanted == "raise":
        raise ValueError("the handler refused")
    if wanted == "error":
        return {"error": "the handler says no"}
    if wanted == "progress":
        runpod.serverless.progress_update(job, "half way")
        import time

        time.sleep(job["input"]["seconds"])
    if wanted == "print":
        print("printed by the handler")
    return {"echo": job["input"], "id": job["id"]}


runpod.serverless.start({"handler": handler})
