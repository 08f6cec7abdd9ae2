/**
 * Serves `/openapi.json`, and `/docs`, the same document as a page. Both are made once, on first use, in a thread. Neither
 * the start of the service nor its deliveries wait for them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { PageFile } from './page-file.ts';
import { PAGE_HEADERS } from './page-parts.ts';
import type { ReferencePageOptions } from './reference/page.ts';
import type { RenderedReference } from './reference/render-thread.ts';

export interface ReferenceOptions extends ReferencePageOptions {
  /** The folder with the script and the style of the page. */
  readonly folder: string;
}

/** The page loads only its own files, and sends requests only to the service that it came from. */
const HTML_HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const;

/** The browser asks each time whether its copy is current, so an update of the service shows at once. */
const CACHING = 'no-cache';

const NOT_BUILT = 'The files of this page have not been built. Build them with: npm run dashboard:build';

export function mountReference(server: FastifyInstance, { folder, ...options }: ReferenceOptions): void {
  const rendered = lazy(() => renderInThread(options));
  const files: Readonly<Record<string, () => Promise<PageFile>>> = {
    '/openapi.json': lazy(async () => fileOf('openapi.json', (await rendered()).json)),
    '/docs': lazy(async () => fileOf('docs.html', (await rendered()).html)),
    '/docs/page.css': lazy(async () => fileIn(folder, 'page.css')),
    '/docs/page.js': lazy(async () => fileIn(folder, 'page.js')),
  };
  for (const [url, file] of Object.entries(files)) {
    server.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply): Promise<FastifyReply> => {
        if (url !== '/openapi.json') reply.headers(HTML_HEADERS);
        return (await file()).send(request, reply);
      },
    });
  }
}

function renderInThread(options: ReferencePageOptions): Promise<RenderedReference> {
  const { promise, resolve, reject } = Promise.withResolvers<RenderedReference>();
  const thread = new Worker(new URL('./reference/render-thread.ts', import.meta.url), {
    workerData: options,
  });
  // A service that stops does not wait for the page.
  thread.unref();
  thread.once('message', resolve);
  thread.once('error', reject);
  thread.once('exit', () => reject(new Error('The reference was not rendered: its thread has ended.')));
  return promise;
}

function fileOf(name: string, content: string): PageFile {
  return new PageFile(name, Buffer.from(content), CACHING);
}

/** Without its files the page can still be read, so a checkout that was never built is not an error of the service. */
function fileIn(folder: string, name: string): PageFile {
  const path = join(folder, name);
  const content = existsSync(path) ? readFileSync(path) : Buffer.from(`/* ${NOT_BUILT} */`);
  return new PageFile(name, content, CACHING);
}

/** A failure is not kept, so the next request tries again. */
function lazy<T>(create: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | null = null;
  return () => {
    created ??= create().catch((error: unknown) => {
      created = null;
      throw error;
    });
    return created;
  };
}
