"""A reward server as people write it for OpenRLHF by hand: ``python serve.py --port 5000``.

It is ``openrlhf/cli/serve_rm.py`` of OpenRLHF 0.11.2 with the length of a text in the place of the
model, and without its two log lines for each request.
"""

import argparse

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

_FULL_LENGTH = 2_048

app = FastAPI()


@app.post("/get_reward")
async def get_reward(request: Request) -> JSONResponse:
    """Return a reward for each query: its length, as a share of 2 KB."""
    data = await request.json()
    rewards = [min(1.0, len(query) / _FULL_LENGTH) for query in data["query"]]
    return JSONResponse({"rewards": rewards, "scores": rewards, "extra_logs": {"length": rewards}})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5000)
    arguments = parser.parse_args()
    uvicorn.run(app, host=arguments.host, port=arguments.port, log_level="info")
