/**
 * Serves `/`: a page for a person who opens the address of the service, and the same links as JSON for a program. A
 * request whose `Accept` names `text/html` gets the page. Both say nothing that `/openapi.json` does not say, except
 * for the version.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { headerOf, ownOrigin } from '#src/web/request-headers.ts';
import { securityHeaders } from '#src/web/security-headers.ts';
import { JSON_TYPE } from './errors.ts';
import { renderHome, SCRIPT, STYLE } from './home-page.ts';

export interface HomeOptions {
  readonly version: string;
  /** The address of the dashboard. */
  readonly dashboard: string;
  /** The address of the inbox. Only `sched dev` has one. */
  readonly inbox: string | null;
  /** A command that creates a first schedule at this origin. */
  readonly curl: (origin: string) => string;
  /** The URL of the service, for a request that names no valid host. */
  readonly url: () => string;
}

/** The script and the style are inside the page. Their hashes allow them and nothing else. */
const pageHeaders = securityHeaders({
  'script-src': hashOf(SCRIPT),
  'style-src': hashOf(STYLE),
  'img-src': 'data:',
  'font-src': null,
  'connect-src': null,
  'form-action': "'none'",
});

/** The page repeats the host of the request, so no cache may keep it. */
const HEADERS = { vary: 'Accept', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

const HTML_HEADERS = { ...HEADERS, 'content-type': 'text/html; charset=utf-8' } as const;

export function mountHome(server: FastifyInstance, options: HomeOptions): void {
  const json = JSON.stringify(describeHome(options));
  server.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: async ({ raw }, reply) => {
      if (!namesHtml(headerOf(raw, 'accept') ?? '')) {
        return reply.headers({ ...HEADERS, 'content-type': JSON_TYPE }).send(json);
      }
      const command = options.curl(ownOrigin(raw) ?? options.url());
      return reply
        .headers({ ...pageHeaders(raw), ...HTML_HEADERS })
        .send(renderHome({ ...options, command }));
    },
  });
}

/** The dashboard may have an address of its own. Everything else is on this server. */
function describeHome({ version, dashboard, inbox }: HomeOptions): object {
  return {
    name: 'sched',
    version,
    links: {
      api: '/v1',
      reference: '/docs',
      openapi: '/openapi.json',
      dashboard,
      ...(inbox === null ? {} : { inbox }),
      health: '/healthz',
      readiness: '/readyz',
    },
  };
}

/** A program that accepts anything does not name it. */
function namesHtml(accept: string): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** The URL is quoted, because sh, bash and zsh read the brackets of an IPv6 address as a pattern. */
export function curlCommand(origin: string, key: string, body: object): string {
  return [
    `curl '${origin}/v1/schedules' \\`,
    `  -H 'Authorization: Bearer ${key}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}
