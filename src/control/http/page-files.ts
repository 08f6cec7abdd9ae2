/**
 * The page as it was built, held in memory: what can be asked for is a map that is made at the start, so no path
 * leads anywhere else. Any path that is no file is a place inside the page, which finds its way by itself. What is
 * under `assets/` has its own content in its name and may be kept for ever.
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
/** What is compressed in itself, and what is not worth it. */
const PACKED = new Set(['.png', '.woff2']);
const PACKED_BYTES_MIN = 1_024;
const INDEX = 'index.html';
const ASSETS = 'assets/';
const ETAG_CHARACTERS = 24;

const NOT_BUILT = `The dashboard's page has not been built.

Build it with: npm run dashboard:build
`;

type Encoding = 'br' | 'gzip';
type Pack = (content: Buffer) => Promise<Buffer>;

/** Each file once: as small as it gets. */
const ENCODINGS: Readonly<Record<Encoding, Pack>> = {
  br: promisify(brotliCompress),
  gzip: (content) => promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
};

class PageFile {
  readonly #content: Buffer;
  readonly #type: string;
  readonly #tag: string;
  readonly #isPackable: boolean;
  readonly #packed = new Map<Encoding, Promise<Buffer>>();
  readonly #caching: string;

  constructor(name: string, content: Buffer) {
    this.#content = content;
    this.#type = TYPES[extname(name)] ?? UNKNOWN_TYPE;
    this.#tag = createHash('sha256').update(content).digest('base64url').slice(0, ETAG_CHARACTERS);
    this.#isPackable = !PACKED.has(extname(name)) && content.length >= PACKED_BYTES_MIN;
    if (name.startsWith(ASSETS)) this.#caching = 'public, max-age=31536000, immutable';
    else this.#caching = name === INDEX ? 'no-store' : 'no-cache';
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const encoding = this.#isPackable ? wanted(request.headers['accept-encoding'] ?? '') : null;
    const tag = `"${this.#tag}${encoding === null ? '' : `-${encoding}`}"`;
    reply.headers({ 'cache-control': this.#caching, vary: 'Accept-Encoding', etag: tag });
    if (isKnown(request.headers['if-none-match'] ?? '', tag)) return reply.code(304).send();
    const content = encoding === null ? this.#content : await this.#packedAs(encoding);
    if (encoding !== null) reply.header('content-encoding', encoding);
    return reply.header('content-type', this.#type).send(content);
  }

  /** Once, when it is first asked for. */
  #packedAs(encoding: Encoding): Promise<Buffer> {
    const packed = this.#packed.get(encoding) ?? ENCODINGS[encoding](this.#content);
    this.#packed.set(encoding, packed);
    return packed;
  }
}

/** `folder`: where the page was built to. */
export function pageFiles(scope: FastifyInstance, folder: string): void {
  const files = readFiles(folder);
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const { '*': path = '' } = request.params as { readonly '*'?: string };
    const file = files.get(path) ?? (path.startsWith(ASSETS) ? undefined : files.get(INDEX));
    if (file !== undefined) return file.send(request, reply);
    reply.header('content-type', TYPES['.txt'] ?? UNKNOWN_TYPE);
    return files.has(INDEX) ? reply.code(404).send('Not found.\n') : reply.code(503).send(NOT_BUILT);
  };
  // The first for the path without a slash behind it.
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

/** The best of those that the browser takes. */
function wanted(accepted: string): Encoding | null {
  const accepts = accepted.split(',').flatMap((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
  });
  const names = new Set(accepts);
  if (names.has('br')) return 'br';
  return names.has('gzip') ? 'gzip' : null;
}

function isKnown(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.split(',').some((known) => known.trim().replace(/^W\//, '') === tag);
}
