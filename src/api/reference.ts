/**
 * Serves `/openapi.json`, and `/docs`, the same document as a page. Both are made once, on first use, in a thread. Neither
 * the start of the service nor its deliveries wait for them.
 */
import { Worker } from 'node:worker_threads';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { NOT_BUILT, PageFile, PageFolder } from '#src/web/page-files.ts';
import { securityHeaders } from '#src/web/security-headers.ts';
import type { ReferencePageOptions } from './reference/page.ts';
import type { RenderedReference } from './reference/render-thread.ts';

export interface ReferenceOptions extends ReferencePageOptions {
  /** The folder with the script and the style of the page. */
  readonly folder: string;
}

const pageHeaders = securityHeaders({ 'form-action': "'none'" });

/** The browser asks each time whether its copy is current, so an update of the service shows at once. */
const CACHING = 'no-cache';

export function mountReference(server: FastifyInstance, { folder, ...options }: ReferenceOptions): void {
  const built = new PageFolder(folder);
  const rendered = lazy(() => renderInThread(options));
  const files: Readonly<Record<string, () => Promise<PageFile>>> = {
    '/openapi.json': lazy(async () => fileOf('openapi.json', (await rendered()).json)),
    '/docs': lazy(async () => fileOf('docs.html', (await rendered()).html)),
    '/docs/page.css': async () => fileIn(built, 'page.css'),
    '/docs/page.js': async () => fileIn(built, 'page.js'),
  };
  for (const [url, file] of Object.entries(files)) {
    server.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply): Promise<FastifyReply> => {
        if (url !== '/openapi.json') reply.headers({ ...pageHeaders(request.raw) });
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
function fileIn(built: PageFolder, name: string): PageFile {
  return built.find(name) ?? fileOf(name, `/* ${NOT_BUILT} */`);
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
