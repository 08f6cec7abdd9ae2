/**
 * Serves the files of a built page from memory. All files of the folder are read together at the first request, so the
 * start of the service does not wait for them, and no path can lead to any other file. Names below `assets/` contain a
 * hash of the content, so browsers may cache those files forever.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';

const INDEX = 'index.html';
const ASSETS = 'assets/';
/** The licences of the packages that are part of the page's script. The build writes them. */
const LICENSES = 'licenses.md';

export const NOT_BUILT = 'This page has not been built. Build it with: npm run dashboard:build';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/plain; charset=utf-8',
};
const UNKNOWN_TYPE = 'application/octet-stream';
/** These files are compressed already. */
const COMPRESSED = new Set(['.png', '.woff2']);
/** Compressing a smaller file saves nothing. */
const COMPRESSIBLE_BYTES_MIN = 1_024;
const ETAG_CHARACTERS = 24;
const LARGE_FILE_BYTES = 262_144;
/** It is 40 times faster than the best quality, and the result is an eighth larger. */
const QUALITY_OF_LARGE_FILES = 9;

type Encoding = 'br' | 'gzip';
type Compress = (content: Buffer) => Promise<Buffer>;

/**
 * Each file is compressed once, so the best compression is worth its time. With brotli it takes a second for a large file,
 * whose first reader waits for it.
 */
const ENCODINGS: Readonly<Record<Encoding, Compress>> = {
  br: (content) => promisify(brotliCompress)(content, { params: brotliParameters(content) }),
  gzip: (content) => promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
};

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
  serve(`/${LICENSES}`, () => LICENSES);
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

/** One file, in memory. Browsers may keep it and ask with its tag. Each compression is made once. */
export class PageFile {
  readonly #content: Buffer;
  readonly #type: string;
  readonly #tag: string;
  readonly #isCompressible: boolean;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();
  readonly #caching: string;

  /** The type of the file follows from its name. `caching` is the header `Cache-Control`. */
  constructor(name: string, content: Buffer, caching: string) {
    this.#content = content;
    this.#caching = caching;
    this.#type = typeOf(name);
    this.#tag = createHash('sha256').update(content).digest('base64url').slice(0, ETAG_CHARACTERS);
    this.#isCompressible = !COMPRESSED.has(extname(name)) && content.length >= COMPRESSIBLE_BYTES_MIN;
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const accepted = request.headers['accept-encoding'] ?? '';
    const encoding = this.#isCompressible ? bestEncoding(accepted) : null;
    const tag = `"${this.#tag}${encoding === null ? '' : `-${encoding}`}"`;
    reply.headers({ 'cache-control': this.#caching, vary: 'Accept-Encoding', etag: tag });
    if (hasTag(request.headers['if-none-match'] ?? '', tag)) return reply.code(304).send();
    const content = encoding === null ? this.#content : await this.#compressAs(encoding);
    if (encoding !== null) reply.header('content-encoding', encoding);
    return reply.header('content-type', this.#type).send(content);
  }

  /** Compresses the file at the first request for it. */
  #compressAs(encoding: Encoding): Promise<Buffer> {
    const compressed = this.#compressed.get(encoding) ?? ENCODINGS[encoding](this.#content);
    this.#compressed.set(encoding, compressed);
    return compressed;
  }
}

function typeOf(name: string): string {
  return TYPES[extname(name)] ?? UNKNOWN_TYPE;
}

function brotliParameters({ length }: Buffer): Readonly<Record<number, number>> {
  const isLarge = length >= LARGE_FILE_BYTES;
  return isLarge ? { [constants.BROTLI_PARAM_QUALITY]: QUALITY_OF_LARGE_FILES } : {};
}

/** Returns the best encoding that the browser accepts. */
function bestEncoding(accepted: string): Encoding | null {
  const accepts = accepted.split(',').flatMap((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
  });
  const names = new Set(accepts);
  if (names.has('br')) return 'br';
  return names.has('gzip') ? 'gzip' : null;
}

function hasTag(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}
