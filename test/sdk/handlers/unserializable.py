import runpod


def handler(job):
    kind = job["input"]["kind"]
    if kind == "bytes":
        return {"image": b"\x00"}
    if kind == "nan":
        return {"loss": float("nan")}
    if kind == "surrogate":
        return {"text": "\ud800"}
    if kind == "circle":
        circle = {}
        circle["circle"] = circle
        return circle
    return {("a", 1): "a key that is a tuple"}


runpod.serverless.start({"handler": handler})
