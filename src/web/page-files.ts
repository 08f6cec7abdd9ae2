/**
 * Serves the files of a built page from memory. All files of the folder are read together at the first request, so the
 * start of the service does not wait for them, and no path can lead to any other file. Names below `assets/` contain a
 * hash of the content, so browsers may cache those files forever.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { PageFile, typeOf } from './page-file.ts';

const INDEX = 'index.html';
const ASSETS = 'assets/';

export const NOT_BUILT = 'This page has not been built. Build it with: npm run dashboard:build';

export class PageFolder {
  readonly #folder: string;
  #files: ReadonlyMap<string, PageFile> = new Map();

  /** `folder` is where the page was built. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns null if there is no such file. A page that was not built is looked for again at the next request. */
  find(name: string): PageFile | null {
    if (this.#files.size === 0) this.#files = readFiles(this.#folder);
    return this.#files.get(name) ?? null;
  }
}

export interface MountedPage {
  readonly folder: string;
  /** Whether every other path is a location inside the page, which does its own routing. */
  readonly hasLocations: boolean;
  readonly config?: RouteShorthandOptions['config'];
}

/** Adds the page to the scope of its prefix. */
export function mountPage(scope: FastifyInstance, { folder, hasLocations, config = {} }: MountedPage): void {
  const files = new PageFolder(folder);
  const serve = (url: string, nameOf: (request: FastifyRequest) => string) =>
    scope.route({
      method: ['GET', 'HEAD'],
      url,
      config,
      handler: async (request, reply): Promise<FastifyReply> => {
        const file = files.find(nameOf(request));
        if (file !== null) return file.send(request, reply);
        reply.header('content-type', typeOf('note.txt'));
        return files.find(INDEX) === null
          ? reply.code(503).send(`${NOT_BUILT}\n`)
          : reply.code(404).send('Not found.\n');
      },
    });
  serve(`/${ASSETS}*`, ({ params }) => ASSETS + (params as { readonly '*': string })['*']);
  serve('/', () => INDEX);
  if (hasLocations) serve('/*', () => INDEX);
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
