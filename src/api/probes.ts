/** Serves `/healthz`, `/readyz` and `/metrics` for monitoring, without an API key. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Store } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Exposition } from '#src/ports/telemetry.ts';
import { JSON_TYPE } from './errors.ts';
import { Readiness } from './readiness.ts';

export interface ProbeOptions {
  readonly store: Pick<Store, 'check'>;
  readonly clock: Clock;
  readonly metrics: Exposition;
  /** Whether due deliveries are sent, if that is a task of this node. */
  readonly isFiring: () => boolean;
}

export function mountProbes(server: FastifyInstance, options: ProbeOptions): void {
  const { store, clock, metrics, isFiring } = options;
  const readiness = new Readiness(store, clock);
  const unready = (reply: FastifyReply, reason: string) =>
    reply
      .code(503)
      .header('content-type', JSON_TYPE)
      .send(JSON.stringify({ status: 'unavailable', reason }));

  server.get('/healthz', async (_request, reply) => {
    return reply.header('content-type', JSON_TYPE).send('{"status":"ok"}');
  });

  // A node is ready if it can make a write durable and sends due deliveries.
  server.get('/readyz', async (_request, reply) => {
    if (!(await readiness.canStore())) return unready(reply, 'store');
    if (!isFiring()) return unready(reply, 'engine');
    return reply.header('content-type', JSON_TYPE).send('{"status":"ready"}');
  });

  server.get('/metrics', async (_request, reply) => {
    return reply.header('content-type', metrics.contentType).send(await metrics.exposition());
  });
}
