# One Tenure node. This project's tests neither build nor run this image: try it before you rely on it.
#
#     docker build --tag tenure .

FROM python:3.11-slim AS build
WORKDIR /build
COPY requirements/dev.txt requirements/
# The build backend is locked among the developers' packages. Nothing of this stage but the wheel is kept.
RUN python -m pip install --no-cache-dir --require-hashes --requirement requirements/dev.txt
COPY pyproject.toml README.md LICENSE ./
COPY src/ src/
RUN python -m pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir wheels .

FROM python:3.11-slim
COPY requirements/runtime.txt /tmp/
RUN python -m pip install --no-cache-dir --require-hashes --requirement /tmp/runtime.txt
COPY --from=build /build/wheels/ /tmp/wheels/
RUN python -m pip install --no-cache-dir --no-deps --no-index /tmp/wheels/*.whl \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin tenure \
    && install --directory --owner=tenure --group=tenure --mode=0700 /var/lib/tenure
USER tenure
ENV TENURE_DATA_DIR=/var/lib/tenure
# Reachable from other containers; TLS is for whatever stands in front.
ENV TENURE_SERVER__HOST=0.0.0.0
ENV TENURE_SERVER__PORT=8080
EXPOSE 8080
VOLUME /var/lib/tenure
# Whether the process answers. Whether it can serve is /readyz, for a load balancer: a node comes back by itself.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
ENTRYPOINT ["tenure"]
CMD ["serve"]
