/**
 * Serves the files of the built page from memory. The map of files is made at the start, so no path can lead to any
 * other file. A path that is not a file is a location inside the page, which does its own routing. Names below
 * `assets/` contain a hash of the content, so browsers may cache those files forever.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

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
};
const UNKNOWN_TYPE = 'application/octet-stream';
/** These files are compressed already. */
const COMPRESSED = new Set(['.png', '.woff2']);
/** Compressing a smaller file saves nothing. */
const COMPRESSIBLE_BYTES_MIN = 1_024;
const INDEX = 'index.html';
const ASSETS = 'assets/';
const ETAG_CHARACTERS = 24;

const NOT_BUILT = `The dashboard cannot be shown: its page has not been built.

Build it with: npm run dashboard:build
`;

type Encoding = 'br' | 'gzip';
type Compress = (content: Buffer) => Promise<Buffer>;

/** Each file is compressed once, so the best compression is worth its time. */
const ENCODINGS: Readonly<Record<Encoding, Compress>> = {
  br: promisify(brotliCompress),
  gzip: (content) => promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
};

class PageFile {
  readonly #content: Buffer;
  readonly #type: string;
  readonly #tag: string;
  readonly #isCompressible: boolean;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();
  readonly #caching: string;

  constructor(name: string, content: Buffer) {
    this.#content = content;
    this.#type = TYPES[extname(name)] ?? UNKNOWN_TYPE;
    this.#tag = createHash('sha256').update(content).digest('base64url').slice(0, ETAG_CHARACTERS);
    this.#isCompressible = !COMPRESSED.has(extname(name)) && content.length >= COMPRESSIBLE_BYTES_MIN;
    if (name.startsWith(ASSETS)) this.#caching = 'public, max-age=31536000, immutable';
    else this.#caching = name === INDEX ? 'no-store' : 'no-cache';
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

/** `folder` is where the page was built. */
export function pageFiles(scope: FastifyInstance, folder: string): void {
  const files = readFiles(folder);
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const { '*': path = '' } = request.params as { readonly '*'?: string };
    const file = files.get(path) ?? (path.startsWith(ASSETS) ? undefined : files.get(INDEX));
    if (file !== undefined) return file.send(request, reply);
    reply.header('content-type', TYPES['.txt'] ?? UNKNOWN_TYPE);
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
    if (entry.isFile()) files.set(name, new PageFile(name, readFileSync(path)));
  }
  return files;
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
