/** `/healthz`, `/readyz` and `/metrics`: for machines that watch, without a key. */
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
  /** Whether due deliveries are being fired, where that is this node's work. */
  readonly isFiring: () => boolean;
}

export function probes(server: FastifyInstance, options: ProbeOptions): void {
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

  // Ready is who can make a write durable right now, and fires what is due.
  server.get('/readyz', async (_request, reply) => {
    if (!(await readiness.canStore())) return unready(reply, 'store');
    if (!isFiring()) return unready(reply, 'engine');
    return reply.header('content-type', JSON_TYPE).send('{"status":"ready"}');
  });

  server.get('/metrics', async (_request, reply) => {
    return reply.header('content-type', metrics.contentType).send(await metrics.exposition());
  });
}
