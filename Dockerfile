# One image for every role: `serve` runs the service, any other command of `sched` works as well.
#   docker build -t sched .
#   docker run -p 127.0.0.1:8080:8080 -v sched-data:/data sched

FROM node:24.21.0-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# The tools that build have their binaries among the optional packages. No package needs its install script:
# everything native ships its binary.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY LICENSE README.md ./
COPY bin ./bin
COPY scripts/build-dashboard.ts scripts/build-package.ts ./scripts/
COPY scripts/package ./scripts/package
COPY dashboard ./dashboard
COPY sdk/src ./sdk/src
COPY src ./src
RUN npm pack --pack-destination /tmp

# The packed program and what it depends on, in the versions of the lockfile. The base image is the runtime, so the
# one among the optional packages stays out.
WORKDIR /app
RUN tar -xzf /tmp/sched-*.tgz --strip-components=1 && cp /build/package-lock.json . \
  && npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund && rm package-lock.json

FROM node:24.21.0-slim
WORKDIR /app
COPY --from=build /app ./
RUN install -d -o node -g node /data

ENV NODE_ENV=production \
    SCHED_HOST=0.0.0.0 \
    SCHED_DATA_DIR=/data
# The user `node`, as a number: Kubernetes can only check numbers.
USER 1000:1000
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.SCHED_PORT || 8080) + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/sched.js"]
CMD ["serve"]
