/** The HTTP server: `/v1`, the reference pages and the probes, with one envelope for every error. */
import { createServer } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Commands, KeyedMutex, type RenderedAnswer } from '#src/commands/command.ts';
import { Idempotency, type IdempotentAnswer } from '#src/commands/idempotency.ts';
import { type PauseLength, pausesOf } from '#src/commands/pauses.ts';
import { Refusal } from '#src/domain/errors.ts';
import { IdMint } from '#src/domain/id.ts';
import type { YieldToEventLoop } from '#src/domain/json.ts';
import { versionFor } from '#src/domain/project.ts';
import type { ControlStore, Tenant } from '#src/ports/control-store.ts';
import { customerActivity } from '#src/ports/customer-activity.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { Store } from '#src/ports/store.ts';
import type { Clock, Random, Stopwatch, Timers } from '#src/ports/system.ts';
import type { Exposition, Log, Metrics } from '#src/ports/telemetry.ts';
import type { Vault } from '#src/ports/vault.ts';
import { AnswerBudget } from './answer-budget.ts';
import { isLongAnswer, sendLong } from './answer-bytes.ts';
import { Keys } from './auth.ts';
import { BrokenRequests } from './broken-requests.ts';
import { type Answering, Call, callOf, rawBody } from './call.ts';
import { OPERATIONS, type Operation, type OperationId } from './contract/operations.ts';
import { JSON_TYPE, refusalOf, refuse } from './errors.ts';
import { handlers } from './handlers.ts';
import { BODY_BYTES_MAX, LargeBodies, SMALL_BODY_BYTES_MAX } from './large-bodies.ts';
import { probes } from './probes.ts';
import { referencePages } from './reference.ts';
import { isDecodable, undecodable } from './request-target.ts';
import { UntakenAnswers } from './untaken-answers.ts';

export interface ApiOptions {
  readonly store: Store & ControlStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics & Exposition;
  readonly hints: Hints;
  readonly isFiring: () => boolean;
  /** False: the probes only. */
  readonly servesApi: boolean;
  /** The operator's exception: plain http:// destinations may be stored. */
  readonly httpAllowed: boolean;
  /** Adds to the server. What it hooks in there goes for the routes here too. */
  readonly extend?: (server: FastifyInstance, shared: Shared) => void;
}

/** What whoever carries out the same commands beside `/v1` has to share with it: changes take turns, keys count once. */
export interface Shared {
  readonly commands: Commands;
  readonly idempotency: Idempotency;
  readonly bodies: LargeBodies;
}

/** An id of any length that Node lets through is one that names nothing. */
const ID_CHARACTERS_MAX = 65_536;
/** A client that takes longer than this to send its request is cut off. */
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 72_000;

/** Logs and metrics show this route for a request without one. */
const NO_ROUTE = 'none';
const NO_TENANT = Symbol('no tenant');

declare module 'fastify' {
  interface FastifyRequest {
    tenant: Tenant | typeof NO_TENANT;
  }
  interface FastifyContextConfig {
    /** Neither logged nor measured: it is not part of the interface. */
    isUnreported?: boolean;
  }
}

export function buildServer(options: ApiOptions): FastifyInstance {
  const { clock, log, metrics } = options;
  const ids = new IdMint((count) => options.random.bytes(count));
  const requestId = () => ids.mint('req', clock.now());

  const report = (id: string, method: string, route: string, status: number, ms: number) => {
    metrics.requestServed(method, route, status, ms / 1000);
    log.info({ request_id: id, method, route, status, ms: Math.round(ms * 10) / 10 }, 'request');
  };
  const broken = new BrokenRequests({
    clock,
    requestId,
    refused: (id, method, status) => report(id, method, NO_ROUTE, status, 0),
  });

  const server = Fastify({
    logger: false,
    // The framework would listen on further addresses by itself, with servers that nothing here watches.
    serverFactory: (handle) => {
      const watched = createServer(
        {
          // Node's own answer to a request without a Host would lack the envelope.
          requireHostHeader: false,
          requestTimeout: REQUEST_TIMEOUT_MS,
          keepAliveTimeout: KEEP_ALIVE_MS,
        },
        (request, response) => {
          if (broken.admit(request, response)) handle(request, response);
        },
      );
      broken.watch(watched);
      new UntakenAnswers(options.timers).watch(watched);
      return watched;
    },
    genReqId: requestId,
    requestIdHeader: false,
    bodyLimit: BODY_BYTES_MAX,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: ID_CHARACTERS_MAX },
    rewriteUrl: ({ url = '/' }) => (isDecodable(url) ? url : undecodable(url)),
    clientErrorHandler: (error, socket) => broken.answer(error, socket),
  });

  server.decorateRequest('tenant', NO_TENANT);
  takeAnyBody(server);
  // Hooks that wait for nothing take a callback: a promise for each would be a cost on every request.
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('Sched-Request-Id', request.id);
    // The framework refuses malformed content types before a parser is chosen; bodies are JSON whatever it says.
    if (request.headers['content-type'] !== undefined) request.headers['content-type'] = 'application/json';
    // Node reads nothing more from a connection that asked for an upgrade, made or not.
    if (request.headers.upgrade !== undefined) reply.header('Connection', 'close');
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    const { config, url: route = NO_ROUTE } = request.routeOptions;
    if (config.isUnreported !== true) {
      report(request.id, request.method, route, reply.statusCode, reply.elapsedTime);
    }
    done();
  });
  server.setErrorHandler((error, request, reply) => refuse(reply, refusalOf(error, request.id, log)));
  server.setNotFoundHandler((_request, reply) => refuse(reply, new Refusal('not_found')));

  const { store, vault, hints } = options;
  const pauses = pausesOf(options.timers);
  const around = customerActivity(options.timers);
  const bodies = new LargeBodies(options.timers);
  const shared: Shared = {
    commands: {
      store,
      clock,
      ids,
      vault,
      hints,
      mutex: new KeyedMutex(),
      pause: (partition, length) => {
        around.record(`${partition}`);
        return pauses.pause(`${partition}`, length);
      },
    },
    idempotency: new Idempotency(store, clock),
    bodies,
  };
  server.addHook('preParsing', (request, _reply, payload, done) =>
    done(null, bodies.arriving(request, payload)),
  );
  options.extend?.(server, shared);
  if (options.servesApi) {
    server.register(async (scope) => v1(scope, options, shared), { prefix: '/v1' });
    referencePages(server);
  }
  probes(server, options);
  return server;
}

async function v1(
  scope: FastifyInstance,
  { store, clock, timers, httpAllowed }: ApiOptions,
  { commands, idempotency, bodies }: Shared,
): Promise<void> {
  const keys = new Keys(store, clock);
  const handle = handlers(commands, httpAllowed);
  const answers = new AnswerBudget(timers);

  scope.addHook('onRequest', (request, reply, done) => {
    const { authorization } = request.headers;
    const admit = (tenant: Tenant) => {
      request.tenant = tenant;
      if (request.is404) throw new Refusal('not_found');
      reply.header('Sched-Version', servedVersion(request, tenant));
      return bodies.admit(request, reply, customerOf(tenant));
    };
    const trusted = keys.trusted(authorization);
    // Hardly ever: the framework goes on when the promise does, and `done` is left alone.
    if (trusted === null) return keys.tenantOf(authorization).then(admit);
    return admit(trusted) ?? done();
  });
  scope.setNotFoundHandler((_request, reply) => refuse(reply, new Refusal('not_found')));

  for (const [id, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
    scope.route({
      method: operation.method,
      url: operation.path.replace('{id}', ':id'),
      // Sent from here: of a handler with a promise the framework would wait for that, and for the reply in it.
      handler: (request, reply) => {
        const { tenant } = request;
        if (tenant === NO_TENANT) throw new Error('A call without a tenant.');
        const { authorization } = request.headers;
        const customer = customerOf(tenant);
        const pause = (length?: PauseLength) => commands.pause(tenant.partition, length);
        const answering: Answering = (read) => answers.read(reply.raw, customer, read);
        const act = () => {
          const call = callOf(request, operation, tenant, answering, idempotency, pause);
          return call instanceof Call ? handle[id](call) : call.then(handle[id]);
        };
        const actIfTrusted = () => {
          // A body may be a minute on its way: a key that was revoked meanwhile changes nothing.
          const isLate = operation.method !== 'GET' && keys.trusted(authorization) === null;
          return isLate ? keys.tenantOf(authorization).then(act) : act();
        };
        const carryOut = () => bodies.carryOut(request, customer, pause, actIfTrusted);
        const bodyBytes = rawBody(request).length;
        // What is read enters when it is read. A small create has a small answer.
        const entersFirst =
          operation.method !== 'GET' && (bodyBytes > SMALL_BODY_BYTES_MAX || operation.path.includes('{id}'));
        (entersFirst ? answers.change(reply.raw, customer, bodyBytes, carryOut) : carryOut())
          .then((answer) => send(reply, answer, pause))
          .catch((error: unknown) => reply.send(error));
      },
    });
  }
}

/** A project has one share of the budgets, whatever its mode. Else its two modes would hold two shares. */
function customerOf({ projectId }: Tenant): string {
  return projectId;
}

function send(
  reply: FastifyReply,
  answer: RenderedAnswer | IdempotentAnswer,
  pause: YieldToEventLoop,
): Promise<void> | void {
  const { status, body } = answer;
  if ('replayed' in answer && answer.replayed) reply.header('Idempotent-Replayed', 'true');
  reply.code(status).header('content-type', JSON_TYPE);
  if (isLongAnswer(body)) return sendLong(reply, body, pause);
  reply.send(body);
}

function servedVersion(request: FastifyRequest, tenant: Tenant): string {
  const asked = request.headers['sched-version'];
  const version = versionFor(typeof asked === 'string' && asked !== '' ? asked : tenant.pinnedVersion);
  if (version === null) throw new Refusal('invalid_version', 'Sched-Version');
  return version;
}

/**
 * Bodies are taken as bytes: they are fingerprinted, then read as JSON. The type that every request with one has
 * by then is named besides all others: it is found as it is, any other would be taken apart each time.
 */
function takeAnyBody(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  for (const type of ['application/json', '*']) {
    server.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  }
}
