/**
 * The control plane over HTTP, under `/dashboard` on the server of the service: the page's files, and its API below
 * `/dashboard/api`. All that guards the API is here, in this order, for every route alike: the origin of a change,
 * the session, its token against forgery (`door.ts`), the route, the project, the role and the audit log (`desk.ts`).
 * Nothing of a body is read before the door, and of whoever has no session no more than a name, a password and a token.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLongAnswer, sendLong } from '#src/api/answer-bytes.ts';
import { rawBody, readBody } from '#src/api/call.ts';
import { JSON_TYPE } from '#src/api/errors.ts';
import type { LargeBodies } from '#src/api/large-bodies.ts';
import type { PauseLength, Pauses } from '#src/commands/pauses.ts';
import type { LiveStreams } from '#src/control/live/live-streams.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { YieldToEventLoop } from '#src/domain/json.ts';
import type { Log } from '#src/ports/telemetry.ts';
import type { Authorizer } from './authorize.ts';
import type { ClientAddressResolver } from './client-address.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { clearCookieHeaders, presentedToken, setCookieHeaders } from './cookie.ts';
import { refuse } from './errors.ts';
import { checkPublicOrigin } from './origin-check.ts';
import { pageFiles } from './page-files.ts';
import { agentOf } from './request-headers.ts';
import type { Answer, Caller, JsonBody, PublicRoute } from './route.ts';
import { securityHeaders } from './security-headers.ts';
import { isAutomatic, type SessionGuard } from './session-guard.ts';

const PREFIX = '/dashboard';
const API = `${PREFIX}/api/`;
/** To read JSON is work of the thread that fires: strangers do not get as much of it as people. */
const STRANGERS_BODY_BYTES_MAX = 16_384;
/** All who have no session take turns as one. */
const STRANGERS = 'strangers';

export interface ControlServerOptions {
  readonly guard: SessionGuard;
  readonly addresses: ClientAddressResolver;
  /** Origins of the dashboard; null accepts any. */
  readonly publicOrigins: readonly string[] | null;
  readonly authorizer: Authorizer;
  readonly concurrency: ConcurrencyLimit;
  readonly bodies: LargeBodies;
  readonly pauses: Pauses;
  /** Those that need no session. */
  readonly publicRoutes: readonly PublicRoute[];
  readonly live: LiveStreams;
  /** How long a browser keeps a session's cookie. */
  readonly cookieSeconds: number;
  /** Where the page was built to. */
  readonly pageFolder: string;
  readonly log: Log;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

export function mountControl(server: FastifyInstance, options: ControlServerOptions): void {
  // Streams would keep it open.
  server.addHook('preClose', async () => options.live.end());
  server.register(async (scope) => dashboard(scope, options), { prefix: PREFIX });
}

async function dashboard(scope: FastifyInstance, options: ControlServerOptions): Promise<void> {
  scope.addHook('onRequest', async ({ raw }, reply) => {
    reply.headers({ ...securityHeaders(raw) });
    checkPublicOrigin(raw, options.publicOrigins);
  });
  scope.setErrorHandler((error, _request, reply) => refuse(reply, error, options.log));
  scope.setNotFoundHandler((_request, reply) => refuse(reply, new Refusal('not_found'), options.log));
  scope.register(async (api) => controlApi(api, options), { prefix: '/api' });
  pageFiles(scope, options.pageFolder);
}

async function controlApi(scope: FastifyInstance, options: ControlServerOptions): Promise<void> {
  const { guard: door, addresses, authorizer: desk, concurrency: turns, bodies, pauses } = options;
  const pauseOf = (who: string) => (length?: PauseLength) => pauses.pause(who, length);
  const bodyOf = (request: FastifyRequest, who: string): JsonBody | Promise<JsonBody> =>
    request.method === 'GET'
      ? {}
      : readBody(rawBody(request), { required: false, acceptsPart: false }, pauseOf(who));
  scope.decorateRequest('caller', null);
  for (const { method, path, handle: answer } of options.publicRoutes) {
    const onRequest = async ({ raw }: FastifyRequest) => door.checkOrigin(raw);
    scope.route({
      method,
      url: `/${path}`,
      bodyLimit: STRANGERS_BODY_BYTES_MAX,
      onRequest,
      handler: async (request, reply) => {
        const { raw } = request;
        const visitor = {
          token: presentedToken(raw),
          isAutomatic: isAutomatic(raw),
          ...addresses.resolve(raw),
          agent: agentOf(raw),
        };
        const body = await bodyOf(request, STRANGERS);
        return send(request, reply, await answer({ ...visitor, body }), pauseOf(STRANGERS), options);
      },
    });
  }
  const admitTo = (isStream: boolean) => async (request: FastifyRequest, reply: FastifyReply) => {
    request.caller = await door.authenticate(request.raw, isStream);
    await bodies.admit(request, reply, request.caller.user.id);
  };

  // Neither logged nor measured: how long a page is left open says nothing about the service.
  scope.get('/live', { config: { isUnreported: true }, onRequest: admitTo(true) }, async (request, reply) => {
    const caller = callerOf(request);
    const headers = reply.getHeaders() as OutgoingHttpHeaders;
    const lookUp = () => door.recheck(caller);
    options.live.open({ caller, recheck: lookUp, query: queryOf(request), headers, response: reply.raw });
    reply.hijack();
    return reply;
  });
  scope.all('/*', { onRequest: admitTo(false) }, async (request, reply) => {
    const { method } = request;
    const admitted = callerOf(request);
    const { id } = admitted.user;
    const act = async () =>
      desk.handle({
        // A body may take its time to arrive, and the session be over by then.
        caller: method === 'GET' ? admitted : await door.recheck(admitted),
        method,
        path: pathOf(request),
        query: queryOf(request),
        body: () => bodyOf(request, id),
        fastifyRequest: request,
      });
    const pause = pauseOf(id);
    const answer = await bodies.carryOut(request, id, pause, () => turns.run(id, act));
    return send(request, reply, answer, pause, options);
  });
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new Error('A request without a caller.');
  return caller;
}

/** As it was sent: what is decoded is decoded once, segment by segment. */
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
