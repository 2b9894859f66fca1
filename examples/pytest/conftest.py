"""Starts a local service, deploys the program of this folder, and destroys it after the tests."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


class Service:
    """A local service that leaves no files."""

    def __init__(self):
        command = ["npx", "--no", "serverless-compute-local", "start", "--ephemeral", "--json", "--port", "0"]
        options = ["--runtime", "none", "--template-release", "0", "--image", "acme/chat:1=./handler.mjs"]
        self.process = subprocess.Popen([*command, *options], cwd=FOLDER, stdout=subprocess.PIPE, text=True)
        addresses = json.loads(self.process.stdout.readline())
        self.url = addresses["url"]
        self.pid = addresses["pid"]
        self.key = Path(addresses["apiKeyFile"]).read_text().strip()

    def call(self, method, url, body=None):
        """Sends a request; returns the status and the parsed response."""
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        self.process.wait(timeout=60)


@pytest.fixture(scope="session")
def service():
    service = Service()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def outputs(service, tmp_path_factory):
    """The outputs of the deployed stack."""
    # Settings of the shell must not select another service.
    shell = {name: value for name, value in os.environ.items() if not name.startswith("SERVERLESS_COMPUTE_")}
    env = {
        **shell,
        "PULUMI_BACKEND_URL": f"file://{tmp_path_factory.mktemp('state')}",
        "PULUMI_CONFIG_PASSPHRASE": "only for tests",
        "SERVERLESS_COMPUTE_URL": service.url,
        "SERVERLESS_COMPUTE_API_KEY": service.key,
    }

    def pulumi(*words):
        done = subprocess.run(
            ["pulumi", *words, "--non-interactive"], cwd=FOLDER, env=env, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    pulumi("stack", "init", "test")
    pulumi("up", "--yes", "--stack", "test")
    yield json.loads(pulumi("stack", "output", "--json", "--stack", "test"))
    pulumi("destroy", "--yes", "--remove", "--stack", "test")
