/** Builds the HTTP server with `/v1` and the probes. Every error has the same envelope. */
import { createServer } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Commands, KeyedMutex, type RenderedAnswer } from '#src/commands/command.ts';
import { Idempotency, type IdempotentAnswer } from '#src/commands/idempotency.ts';
import { type PauseLength, pausesOf } from '#src/commands/pauses.ts';
import { RollingUpgrade } from '#src/commands/rolling-upgrade.ts';
import { Refusal } from '#src/domain/errors.ts';
import { IdMint } from '#src/domain/id.ts';
import type { YieldToEventLoop } from '#src/domain/json.ts';
import { versionFor } from '#src/domain/project.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { ControlStore, Tenant } from '#src/ports/control-store.ts';
import { customerActivity } from '#src/ports/customer-activity.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { Store } from '#src/ports/store.ts';
import type { Clock, Random, Stopwatch, Timers } from '#src/ports/system.ts';
import type { Exposition, Log, Metrics } from '#src/ports/telemetry.ts';
import type { Vault } from '#src/ports/vault.ts';
import { AnswerBudget } from './answer-budget.ts';
import { Authenticator } from './authenticator.ts';
import { BODY_BYTES_MAX, BodyBudget, SMALL_BODY_BYTES_MAX } from './body-budget.ts';
import { type AnswerWithinBudget, Call, callOf, rawBody } from './call.ts';
import { OPERATIONS, type Operation, type OperationId } from './contract/operations.ts';
import { JSON_TYPE, refusalOf, refuse } from './errors.ts';
import type { Handler } from './handler.ts';
import { handlers } from './handlers.ts';
import { IGNORED_FIELDS_HEADER, ignoredFieldsHeader } from './ignored-fields.ts';
import { isLongAnswer, sendLong } from './long-answer.ts';
import { MalformedRequests } from './malformed-requests.ts';
import { STRICT_APPLIED, wantsStrict } from './prefer.ts';
import { mountProbes } from './probes.ts';
import { isDecodable, replaceUndecodable } from './request-target.ts';
import { SendTimeout } from './send-timeout.ts';
import { unknownPathText } from './unknown-path.ts';

export interface ApiOptions {
  readonly store: Store & ControlStore & Pick<ClusterStore, 'listVersions' | 'refuseOlderPrograms'>;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics & Exposition;
  readonly hints: Hints;
  readonly isFiring: () => boolean;
  /** If false, the server has only the probes. */
  readonly servesApi: boolean;
  /** Whether the operator allows plain http:// destinations. */
  readonly httpAllowed: boolean;
  /** Adds routes and hooks to the server. The hooks also apply to the routes of this file. */
  readonly extend?: (server: FastifyInstance, shared: Shared) => void;
}

/**
 * The parts that another interface to the same commands must share with `/v1`. Changes are serialized, and an idempotency
 * key counts once.
 */
export interface Shared {
  readonly commands: Commands;
  readonly upgrade: RollingUpgrade;
  readonly idempotency: Idempotency;
  readonly bodies: BodyBudget;
}

/** The limit is as large as Node allows, so that a longer id is answered with `404`. */
const ID_CHARACTERS_MAX = 65_536;
/** A client that takes longer to send its request is disconnected. */
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 72_000;

/** The route in logs and metrics of a request without a route. */
const NO_ROUTE = 'none';
const NO_TENANT = Symbol('no tenant');

declare module 'fastify' {
  interface FastifyRequest {
    tenant: Tenant | typeof NO_TENANT;
  }
  interface FastifyContextConfig {
    /** The route is not part of the API, so it is neither logged nor measured. */
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
  const malformed = new MalformedRequests({
    clock,
    requestId,
    onRefused: (id, method, status) => report(id, method, NO_ROUTE, status, 0),
  });

  const server = Fastify({
    logger: false,
    // The framework would by itself listen on more addresses, with servers that are not watched here.
    serverFactory: (handle) => {
      const watched = createServer(
        {
          // The answer of Node to a request without a Host would not have the envelope.
          requireHostHeader: false,
          requestTimeout: REQUEST_TIMEOUT_MS,
          keepAliveTimeout: KEEP_ALIVE_MS,
        },
        (request, response) => {
          if (malformed.admit(request, response)) handle(request, response);
        },
      );
      malformed.watch(watched);
      new SendTimeout(options.timers).watch(watched);
      return watched;
    },
    genReqId: requestId,
    requestIdHeader: false,
    bodyLimit: BODY_BYTES_MAX,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: ID_CHARACTERS_MAX },
    rewriteUrl: ({ url = '/' }) => (isDecodable(url) ? url : replaceUndecodable(url)),
    clientErrorHandler: (error, socket) => malformed.answer(error, socket),
  });

  server.decorateRequest('tenant', NO_TENANT);
  acceptAnyBody(server);
  // Hooks that do not wait use a callback, because a promise in each would be a cost on every request.
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('Sched-Request-Id', request.id);
    // Bodies are always JSON. The framework would refuse a malformed content type before it chooses a parser.
    if (request.headers['content-type'] !== undefined) request.headers['content-type'] = 'application/json';
    // Node does not read further requests from a connection that asked for an upgrade.
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
  server.setNotFoundHandler((request, reply) => refuse(reply, unknownPath(request)));

  const { store, vault, hints } = options;
  const pauses = pausesOf(options.timers);
  const around = customerActivity(options.timers);
  const bodies = new BodyBudget(options.timers);
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
    upgrade: new RollingUpgrade(store, options.timers),
    idempotency: new Idempotency(store, clock),
    bodies,
  };
  server.addHook('preParsing', (request, _reply, payload, done) =>
    done(null, bodies.limitedBody(request, payload)),
  );
  options.extend?.(server, shared);
  if (options.servesApi) {
    server.register(async (scope) => v1(scope, options, shared), { prefix: '/v1' });
  }
  mountProbes(server, options);
  return server;
}

async function v1(
  scope: FastifyInstance,
  { store, clock, timers, httpAllowed }: ApiOptions,
  { commands, upgrade, idempotency, bodies }: Shared,
): Promise<void> {
  const authenticator = new Authenticator(store, clock);
  const handle = handlers(commands, { httpAllowed, upgrade });
  const answers = new AnswerBudget(timers);

  scope.addHook('onRequest', (request, reply, done) => {
    const { authorization } = request.headers;
    const admit = (tenant: Tenant) => {
      request.tenant = tenant;
      if (request.is404) throw unknownPath(request);
      reply.header('Sched-Version', servedVersion(request, tenant));
      if (request.method !== 'GET' && wantsStrict(request.headers.prefer)) {
        reply.header('Preference-Applied', STRICT_APPLIED);
      }
      return bodies.admit(request, reply, customerOf(tenant));
    };
    const cached = authenticator.cachedTenant(authorization);
    // This is rare. The framework then waits for the promise, and `done` must not be called.
    if (cached === null) return authenticator.authenticate(authorization).then(admit);
    return admit(cached) ?? done();
  });
  scope.setNotFoundHandler((request, reply) => refuse(reply, unknownPath(request)));

  for (const [id, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
    scope.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      // The handler sends the reply itself. With an async handler the framework would also wait for its promise.
      handler: (request, reply) => {
        const { tenant } = request;
        if (tenant === NO_TENANT) throw new Error('The request was not authenticated.');
        const { authorization } = request.headers;
        const customer = customerOf(tenant);
        const pause = (length?: PauseLength) => commands.pause(tenant.partition, length);
        const answer: AnswerWithinBudget = (read) => answers.read(reply.raw, customer, read);
        const run = (call: Call) =>
          call.ignored.length === 0 ? handle[id](call) : nameIgnored(reply, call, handle[id]);
        const act = () => {
          const call = callOf(request, operation, tenant, answer, idempotency, pause);
          return call instanceof Call ? run(call) : call.then(run);
        };
        const actIfAuthenticated = () => {
          // A body may take a minute to arrive. A key that was revoked in the meantime must not change anything.
          const mustCheckAgain =
            operation.method !== 'GET' && authenticator.cachedTenant(authorization) === null;
          return mustCheckAgain ? authenticator.authenticate(authorization).then(act) : act();
        };
        const process = () => bodies.process(request, customer, pause, actIfAuthenticated);
        const bodyBytes = rawBody(request).length;
        // A read acquires its budget when it reads. A small create has a small answer and needs none.
        const needsBudget =
          operation.method !== 'GET' && (bodyBytes > SMALL_BODY_BYTES_MAX || operation.path.includes('{'));
        (needsBudget ? answers.change(reply.raw, customer, bodyBytes, process) : process())
          .then((result) => send(reply, result, pause))
          .catch((error: unknown) => reply.send(error));
      },
    });
  }
}

/**
 * Runs a call with ignored fields. Its answer names them, and a refusal does too. A strict call succeeds only if it
 * repeats one that was not strict: the fields were ignored then, so that answer names them as well.
 */
async function nameIgnored(
  reply: FastifyReply,
  call: Call,
  handle: Handler,
): Promise<RenderedAnswer | IdempotentAnswer> {
  const name = () => reply.header(IGNORED_FIELDS_HEADER, ignoredFieldsHeader(call.ignored));
  if (!call.isStrict) name();
  const answer = await handle(call);
  name();
  return answer;
}

function unknownPath({ method, url, originalUrl }: FastifyRequest): Refusal {
  return new Refusal('not_found', null, unknownPathText(method, url, originalUrl));
}

/** The two modes of a project share one share of the budgets. */
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
  if ('isUnchanged' in answer && answer.isUnchanged) reply.header('Sched-Unchanged', 'true');
  reply.code(status).header('content-type', JSON_TYPE);
  if (isLongAnswer(body)) return sendLong(reply, body, pause);
  reply.send(body);
}

function servedVersion(request: FastifyRequest, tenant: Tenant): string {
  const requested = request.headers['sched-version'];
  const version = versionFor(
    typeof requested === 'string' && requested !== '' ? requested : tenant.pinnedVersion,
  );
  if (version === null) throw new Refusal('invalid_version', 'Sched-Version');
  return version;
}

/**
 * Bodies are read as bytes, because they are fingerprinted before they are parsed as JSON. By then every body
 * has the type `application/json`. It is registered explicitly, because the framework finds an exact name
 * without parsing the header each time.
 */
function acceptAnyBody(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  for (const type of ['application/json', '*']) {
    server.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  }
}
