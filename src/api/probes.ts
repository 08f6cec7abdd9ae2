/** `/healthz`, `/readyz` and `/metrics`: for machines that watch, without a key. */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '#src/ports/clock.ts';
import { type Store, StoreUnavailable } from '#src/ports/store.ts';
import type { Exposition } from '#src/ports/telemetry.ts';
import { JSON_TYPE } from './errors.ts';

export interface ProbeOptions {
  readonly store: Pick<Store, 'check'>;
  readonly clock: Clock;
  readonly metrics: Exposition;
}

export function probes(server: FastifyInstance, { store, clock, metrics }: ProbeOptions): void {
  server.get('/healthz', async (_request, reply) => {
    return reply.header('content-type', JSON_TYPE).send('{"status":"ok"}');
  });

  // Ready is who can make a write durable right now.
  server.get('/readyz', async (_request, reply) => {
    try {
      await store.check(clock.now());
      return await reply.header('content-type', JSON_TYPE).send('{"status":"ready"}');
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return reply
        .code(503)
        .header('content-type', JSON_TYPE)
        .send('{"status":"unavailable","reason":"store"}');
    }
  });

  server.get('/metrics', async (_request, reply) => {
    return reply.header('content-type', metrics.contentType).send(await metrics.exposition());
  });
}
