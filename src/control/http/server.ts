/**
 * Serves the control plane under `/dashboard`: the files of the page, and its API below `/dashboard/api`. Every route
 * passes the same checks in the same order. `session-guard.ts` checks the origin of a change, the session and its CSRF
 * token. `authorize.ts` then checks the route, the project and the role, and writes the audit log. A body is read only
 * after the session was checked. Without a session, only small bodies are read.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BodyBudget } from '#src/api/body-budget.ts';
import { rawBody, readBody } from '#src/api/call.ts';
import { JSON_TYPE } from '#src/api/errors.ts';
import { isLongAnswer, sendLong } from '#src/api/long-answer.ts';
import type { PauseLength, Pauses } from '#src/commands/pauses.ts';
import type { LiveStreams } from '#src/control/live/live-streams.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { YieldToEventLoop } from '#src/domain/json.ts';
import type { Log } from '#src/ports/telemetry.ts';
import { mountPage } from '#src/web/page-files.ts';
import { agentOf } from '#src/web/request-headers.ts';
import { securityHeaders } from '#src/web/security-headers.ts';
import type { Authorizer } from './authorize.ts';
import type { ClientAddressResolver } from './client-address.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { clearCookieHeaders, presentedToken, setCookieHeaders } from './cookie.ts';
import { refuse } from './errors.ts';
import { checkPublicOrigin } from './origin-check.ts';
import type { Answer, Caller, JsonBody, Route } from './route.ts';
import { isAutomatic, type SessionGuard } from './session-guard.ts';

const PREFIX = '/dashboard';
const API = `${PREFIX}/api/`;
/** Reading JSON takes time of the thread that sends deliveries, so bodies without a session have a smaller limit. */
const ANONYMOUS_BODY_BYTES_MAX = 16_384;
/** All clients without a session share the pauses of one customer. */
const ANONYMOUS = 'anonymous';

const headersOf = securityHeaders();

export interface ControlServerOptions {
  readonly guard: SessionGuard;
  readonly addresses: ClientAddressResolver;
  /** The origins of the dashboard. Null accepts any. */
  readonly publicOrigins: readonly string[] | null;
  readonly authorizer: Authorizer;
  readonly concurrency: ConcurrencyLimit;
  readonly bodies: BodyBudget;
  readonly pauses: Pauses;
  readonly routes: readonly Route[];
  readonly live: LiveStreams;
  /** How long a browser keeps a session's cookie. */
  readonly cookieSeconds: number;
  /** The folder of the built page. */
  readonly pageFolder: string;
  readonly log: Log;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

export function mountControl(server: FastifyInstance, options: ControlServerOptions): void {
  // Open streams would keep the server from closing.
  server.addHook('preClose', async () => options.live.end());
  server.register(async (scope) => dashboard(scope, options), { prefix: PREFIX });
}

async function dashboard(scope: FastifyInstance, options: ControlServerOptions): Promise<void> {
  scope.addHook('onRequest', async ({ raw }, reply) => {
    reply.headers({ ...headersOf(raw) });
    checkPublicOrigin(raw, options.publicOrigins);
  });
  scope.setErrorHandler((error, _request, reply) => refuse(reply, error, options.log));
  scope.setNotFoundHandler((_request, reply) => refuse(reply, new Refusal('not_found'), options.log));
  scope.register(async (api) => controlApi(api, options), { prefix: '/api' });
  mountPage(scope, { folder: options.pageFolder, hasLocations: true });
}

async function controlApi(scope: FastifyInstance, options: ControlServerOptions): Promise<void> {
  const { guard, addresses, authorizer, concurrency, bodies, pauses } = options;
  const pauseOf = (customer: string) => (length?: PauseLength) => pauses.pause(customer, length);
  const bodyOf = (request: FastifyRequest, customer: string): JsonBody | Promise<JsonBody> =>
    request.method === 'GET'
      ? {}
      : readBody(rawBody(request), { required: false, acceptsPart: false }, pauseOf(customer));
  scope.decorateRequest('caller', null);
  for (const route of options.routes) {
    if (route.access !== 'public') continue;
    const { method, path, check, prepare } = route;
    scope.route({
      method,
      url: `/${path}`,
      bodyLimit: ANONYMOUS_BODY_BYTES_MAX,
      onRequest: async ({ raw }) => {
        guard.checkOrigin(raw);
        check?.(raw);
      },
      handler: async (request, reply) => {
        const { raw } = request;
        const sender = {
          token: presentedToken(raw),
          isAutomatic: isAutomatic(raw),
          ...addresses.resolve(raw),
          agent: agentOf(raw),
        };
        const given = { params: {}, query: queryOf(request), body: await bodyOf(request, ANONYMOUS) };
        const { run } = await prepare(sender, given);
        return send(request, reply, await run(), pauseOf(ANONYMOUS), options);
      },
    });
  }
  const authenticate = (isStream: boolean) => async (request: FastifyRequest, reply: FastifyReply) => {
    request.caller = await guard.authenticate(request.raw, isStream);
    await bodies.admit(request, reply, request.caller.user.id);
  };

  // Streams are neither logged nor measured: how long a page stays open says nothing about the service.
  const live = { config: { isUnreported: true }, onRequest: authenticate(true) };
  scope.get('/live', live, async (request, reply) => {
    const caller = callerOf(request);
    const headers = reply.getHeaders() as OutgoingHttpHeaders;
    const recheck = () => guard.recheck(caller);
    options.live.open({ caller, recheck, query: queryOf(request), headers, response: reply.raw });
    reply.hijack();
    return reply;
  });
  scope.all('/*', { onRequest: authenticate(false) }, async (request, reply) => {
    const { method } = request;
    const caller = callerOf(request);
    const { id } = caller.user;
    const act = async () =>
      authorizer.handle({
        // A body may take long to arrive, and the session may have ended by then.
        caller: method === 'GET' ? caller : await guard.recheck(caller),
        method,
        path: pathOf(request),
        query: queryOf(request),
        body: () => bodyOf(request, id),
        idempotencyKey: request.headers['idempotency-key'],
      });
    const pause = pauseOf(id);
    const answer = await bodies.process(request, id, pause, () => concurrency.run(id, act));
    return send(request, reply, answer, pause, options);
  });
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new Error('The request has no caller. Its route does not authenticate.');
  return caller;
}

/** Returns the path still percent-encoded. The router decodes it once, segment by segment. */
function pathOf({ url }: FastifyRequest): string {
  return url.slice(API.length).split('?', 1)[0] ?? '';
}

function queryOf({ url }: FastifyRequest): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at));
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, body, session }: Answer,
  pause: YieldToEventLoop,
  { cookieSeconds }: Pick<ControlServerOptions, 'cookieSeconds'>,
): Promise<FastifyReply> {
  if (session !== undefined) {
    const cookies =
      session === null ? clearCookieHeaders() : setCookieHeaders(request.raw, session, cookieSeconds);
    reply.header('set-cookie', [...cookies]);
  }
  reply.code(status).header('content-type', JSON_TYPE);
  if (!isLongAnswer(body)) return reply.send(body);
  await sendLong(reply, body, pause);
  return reply;
}
