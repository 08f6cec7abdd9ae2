/** Serves `/openapi.json`, and `/docs`, the same document as a page. Both are rendered once, on first use. */
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from './contract/openapi.ts';
import { JSON_TYPE } from './errors.ts';
import { renderReference } from './reference-page.ts';

const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function mountReference(server: FastifyInstance): void {
  const document = lazy(openApiDocument);
  const json = lazy(() => JSON.stringify(document()));
  const page = lazy(() => renderReference(document()));

  server.get('/openapi.json', async (_request, reply) => {
    return reply.header('content-type', JSON_TYPE).send(json());
  });
  server.get('/docs', async (_request, reply) => {
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', PAGE_POLICY)
      .header('x-content-type-options', 'nosniff')
      .send(page());
  });
}

function lazy<T>(create: () => T): () => T {
  let created: { readonly value: T } | null = null;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}
