# The server: `testforge serve` takes webhooks and works on them, `testforge worker` joins another server's database.
# It starts sandboxes through an engine's socket (-v /var/run/docker.sock:/var/run/docker.sock, and the socket's group),
# or through DOCKER_HOST. Its data are in /var/lib/testforge.
#
#   BASE  any image of Debian or Ubuntu with Python 3.11 to 3.13 as python3
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
WORKDIR /src
COPY requirements.build.lock requirements.server.lock ./
# pip and what builds testforge stay in this stage.
RUN python3 -m venv /opt/build \
    && /opt/build/bin/python -m pip install --quiet --no-cache-dir --require-hashes -r requirements.build.lock \
    && python3 -m venv --without-pip /opt/testforge \
    && /opt/build/bin/uv pip sync --quiet --no-cache --python /opt/testforge/bin/python --require-hashes requirements.server.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
RUN /opt/build/bin/python -m hatchling build --target wheel --directory dist >/dev/null \
    && /opt/build/bin/uv pip install --quiet --no-cache --python /opt/testforge/bin/python --no-deps dist/*.whl
# What the server never loads: the pages of LiteLLM's proxy (its code is needed), types of GitHub's answers, a downloader of
# models' weights, tests, stubs, and AWS's services but for models and logins. Of the largest packages only what
# LiteLLM loads at once is compiled here, the rest where it is used.
RUN ln -s /opt/testforge/lib/python3.*/site-packages /site
WORKDIR /site
RUN /opt/build/bin/uv pip uninstall --quiet --python /opt/testforge/bin/python githubkit-schemas-2026-03-10 hf-xet \
    && rm -rf litellm/proxy/_experimental/out litellm/proxy/swagger sqlalchemy/testing \
    && find botocore/data -mindepth 1 -maxdepth 1 -type d ! -name 'bedrock*' ! -name 'sagemaker-runtime' ! -name 'sso*' \
        ! -name sts ! -name signin -exec rm -rf {} + \
    && find . -depth \( -name tests -o -name __pycache__ \) -type d -exec rm -rf {} + \
    && find . \( -name '*.pyi' -o -name '*.pyx' -o -name '*.c' \) -delete \
    && python3 -m compileall -q . -x '/(litellm|botocore|openai|huggingface_hub)/' \
    && LITELLM_LOCAL_MODEL_COST_MAP=True /opt/testforge/bin/python -c 'import litellm'

FROM ${BASE}
# hadolint ignore=DL3008
RUN command -v git >/dev/null || { \
        apt-get update -qq && apt-get install -y -qq --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/*; }
RUN useradd --uid 10001 --create-home --home-dir /var/lib/testforge testforge
COPY --from=build /opt/testforge /opt/testforge
USER 10001
WORKDIR /var/lib/testforge
ENV PATH=/opt/testforge/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    TESTFORGE_HOST=0.0.0.0 \
    TESTFORGE_DATA_DIRECTORY=/var/lib/testforge/data
VOLUME /var/lib/testforge
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python3", "-c", "import os, urllib.request as web; web.urlopen('http://127.0.0.1:' + os.environ.get('TESTFORGE_PORT', '8000') + '/healthz', timeout=4)"]
ENTRYPOINT ["testforge"]
CMD ["serve"]
