# One image for every role: `serve` runs the service, any other command of `sched` works as well.
#   docker build -t sched .
#   docker run -p 127.0.0.1:8080:8080 -v sched-data:/data sched

FROM node:24.21.0-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# The base image is the runtime, so the one among the optional packages stays out. No package needs its install
# script: everything native ships its binary.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-slim AS page
WORKDIR /app
COPY package.json package-lock.json ./
# What builds the page has its binaries among the optional packages.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY scripts/build-dashboard.ts ./scripts/
COPY dashboard ./dashboard
RUN node scripts/build-dashboard.ts

FROM node:24.21.0-slim
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY sdk/src ./sdk/src
COPY src ./src
COPY --from=page /app/dashboard/dist ./dashboard/dist
# What is compiled at the first start is kept there; a read-only file system only makes starts slower.
RUN install -d -o node -g node /data /app/node_modules/.cache/sched

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
