# The server: `testforge serve` takes webhooks and works on them, `testforge worker` joins another server's database.
# It starts sandboxes through an engine's socket (-v /var/run/docker.sock:/var/run/docker.sock, and the socket's group),
# or through DOCKER_HOST. Its data are in /var/lib/testforge.
#
#   BASE  any image of Debian or Ubuntu with Python 3.11 to 3.13 as python3
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
WORKDIR /src
COPY requirements.server.lock ./
# uv from the lock, by its hash; the rest by uv, by theirs.
RUN python3 -m venv /opt/testforge \
    && awk '/^uv==/ { on = 1 } on { print } on && !/\\$/ { exit }' requirements.server.lock >uv.lock \
    && /opt/testforge/bin/python -m pip install --quiet --no-cache-dir --require-hashes -r uv.lock \
    && /opt/testforge/bin/uv pip sync --quiet --no-cache --python /opt/testforge/bin/python --require-hashes requirements.server.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
RUN /opt/testforge/bin/uv pip install --quiet --no-cache --python /opt/testforge/bin/python --no-deps --no-build-isolation . \
    && find /opt/testforge -depth \( -name tests -o -name __pycache__ \) -type d -exec rm -rf {} + \
    && /opt/testforge/bin/python -m compileall -q /opt/testforge/lib

FROM ${BASE}
# hadolint ignore=DL3008
RUN command -v git >/dev/null || { \
        apt-get update -qq && apt-get install -y -qq --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/*; }
RUN useradd --uid 10001 --create-home --home-dir /var/lib/testforge testforge
COPY --from=build /opt/testforge /opt/testforge
USER testforge
WORKDIR /var/lib/testforge
ENV PATH=/opt/testforge/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    TESTFORGE_HOST=0.0.0.0 \
    TESTFORGE_DATA_DIRECTORY=/var/lib/testforge/data
VOLUME /var/lib/testforge
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["testforge"]
CMD ["serve"]
