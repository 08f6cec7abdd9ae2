/** Serves the files in `page/`: plain HTML, CSS and JavaScript that needs no build. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';

const FOLDER = fileURLToPath(new URL('./page/', import.meta.url));

const TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
} as const;

const FILES: readonly (readonly [path: string, file: string, type: keyof typeof TYPES])[] = [
  ['/', 'page.html', 'html'],
  ['/theme.css', 'theme.css', 'css'],
  ['/details.css', 'details.css', 'css'],
  ['/page.css', 'page.css', 'css'],
  ['/page.js', 'page.js', 'js'],
  ['/details.js', 'details.js', 'js'],
  ['/dom.js', 'dom.js', 'js'],
  ['/json.js', 'json.js', 'js'],
  ['/stream.js', 'stream.js', 'js'],
  ['/texts.js', 'texts.js', 'js'],
  ['/icon.svg', 'icon.svg', 'svg'],
];

/** The options of every inbox route. The inbox is not part of the API, so it is neither logged nor measured. */
export const UNREPORTED = { config: { isUnreported: true } } as const;

export function mountPageFiles(scope: FastifyInstance): void {
  for (const [path, file, type] of FILES) {
    const content = readFileSync(join(FOLDER, file), 'utf8');
    scope.get(path, UNREPORTED, async (_request, reply) =>
      reply.header('content-type', TYPES[type]).send(content),
    );
  }
}
