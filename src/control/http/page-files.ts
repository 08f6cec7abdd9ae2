/**
 * Serves the files of the built page from memory. The map of files is made at the start, so no path can lead to any
 * other file. A path that is not a file is a location inside the page, which does its own routing. Names below
 * `assets/` contain a hash of the content, so browsers may cache those files forever.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PageFile, typeOf } from '#src/api/page-file.ts';

const INDEX = 'index.html';
const ASSETS = 'assets/';

const NOT_BUILT = `The dashboard cannot be shown: its page has not been built.

Build it with: npm run dashboard:build
`;

/** `folder` is where the page was built. */
export function pageFiles(scope: FastifyInstance, folder: string): void {
  const files = readFiles(folder);
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const { '*': path = '' } = request.params as { readonly '*'?: string };
    const file = files.get(path) ?? (path.startsWith(ASSETS) ? undefined : files.get(INDEX));
    if (file !== undefined) return file.send(request, reply);
    reply.header('content-type', typeOf('note.txt'));
    return files.has(INDEX) ? reply.code(404).send('Not found.\n') : reply.code(503).send(NOT_BUILT);
  };
  // The empty URL is the path without a trailing slash.
  for (const url of ['', '/*']) scope.route({ method: ['GET', 'HEAD'], url, handler: serve });
}

function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  if (!existsSync(folder)) return files;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path).split(sep).join('/');
    if (entry.isFile()) files.set(name, new PageFile(name, readFileSync(path), cachingOf(name)));
  }
  return files;
}

function cachingOf(name: string): string {
  if (name.startsWith(ASSETS)) return 'public, max-age=31536000, immutable';
  return name === INDEX ? 'no-store' : 'no-cache';
}
