/**
 * Serves `/openapi.json`, and `/docs`, the same document as a page. Both are rendered once, on first use. Their texts
 * are loaded then, so that the service starts sooner.
 */
import type { FastifyInstance } from 'fastify';
import { JSON_TYPE } from './errors.ts';

const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function mountReference(server: FastifyInstance): void {
  const document = lazy(async () => (await import('./contract/openapi.ts')).openApiDocument());
  const json = lazy(async () => JSON.stringify(await document()));
  const page = lazy(async () => (await import('./reference-page.ts')).renderReference(await document()));

  server.get('/openapi.json', async (_request, reply) => {
    return reply.header('content-type', JSON_TYPE).send(await json());
  });
  server.get('/docs', async (_request, reply) => {
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', PAGE_POLICY)
      .header('x-content-type-options', 'nosniff')
      .send(await page());
  });
}

function lazy<T>(create: () => T): () => T {
  let created: { readonly value: T } | null = null;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}
