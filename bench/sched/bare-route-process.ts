/** A fastify route that parses and validates a create by the service's schema, and stores nothing. */
import Fastify from 'fastify';
import { ScheduleCreate } from '../../src/api/contract/bodies.ts';

const server = Fastify({ logger: false });
server.post('/v1/schedules', async (request, reply) => {
  const parsed = ScheduleCreate.safeParse(request.body);
  return reply
    .code(parsed.success ? 201 : 400)
    .send({ object: 'schedule', endpoint: parsed.data?.endpoint ?? null });
});
const url = await server.listen({ host: '127.0.0.1', port: 0 });
console.log(`Bare route listens on ${url}`);
process.on('SIGTERM', () => {
  void server.close();
});
