import runpod


def handler(job):
    words = job["input"]["text"].split()
    return {"words": len(words), "longest": max(words, key=len)}


runpod.serverless.start({"handler": handler})
