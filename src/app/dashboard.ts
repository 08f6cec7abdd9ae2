/** Builds the dashboard, its control API and its page, and adds it to the server. */
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Shared } from '#src/api/server.ts';
import { pausesOf } from '#src/commands/pauses.ts';
import { runAudited } from '#src/control/audit.ts';
import type { DataDependencies } from '#src/control/data/dependencies.ts';
import { dataRoutes } from '#src/control/data/routes.ts';
import type { PeopleDependencies, SealingDependencies } from '#src/control/dependencies.ts';
import { FailedLoginLog } from '#src/control/failed-login-log.ts';
import { Authorizer } from '#src/control/http/authorize.ts';
import { ClientAddressResolver } from '#src/control/http/client-address.ts';
import { ConcurrencyLimit } from '#src/control/http/concurrency-limit.ts';
import type { About } from '#src/control/http/contract.ts';
import type { Route } from '#src/control/http/route.ts';
import { installationRoutes } from '#src/control/http/routes/installation.ts';
import { keyRoutes } from '#src/control/http/routes/keys.ts';
import { peopleRoutes } from '#src/control/http/routes/people.ts';
import { projectRoutes } from '#src/control/http/routes/projects.ts';
import { secretRoutes } from '#src/control/http/routes/secrets.ts';
import { sessionRoutes } from '#src/control/http/routes/session.ts';
import { type LocalSignIn, signInRoutes } from '#src/control/http/routes/sign-in.ts';
import { mountControl } from '#src/control/http/server.ts';
import { SessionGuard } from '#src/control/http/session-guard.ts';
import { LiveStreams } from '#src/control/live/live-streams.ts';
import type { WatchDependencies } from '#src/control/live/watch.ts';
import { LoginThrottle } from '#src/control/login-throttle.ts';
import type { Passwords } from '#src/control/passwords.ts';
import { RoleRefusals } from '#src/control/role-refusals.ts';
import { SESSION_MS_MAX } from '#src/control/sessions.ts';
import type { Cidr } from '#src/domain/public-address.ts';
import type { AlertStore } from '#src/ports/alert-store.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import type { Log } from '#src/ports/telemetry.ts';

/** The output folder of `npm run dashboard:build`. */
const PAGE_FOLDER = fileURLToPath(new URL('../../dashboard/dist/dashboard/', import.meta.url));
const MS_PER_SECOND = 1_000;

export interface DashboardDependencies
  extends SealingDependencies,
    Pick<
      DataDependencies,
      'timers' | 'httpAllowed' | 'isCluster' | 'dashboard' | 'wakeReplays' | 'wakeAlerts'
    > {
  readonly store: SealingDependencies['store'] & {
    readonly insight: InsightStore;
    readonly jobs: ReplayJobStore;
    readonly alerts: AlertStore;
  };
  readonly passwords: Passwords;
  readonly log: Log;
  /** Proxies whose `X-Forwarded-For` header is trusted. */
  readonly trustedProxies: readonly Cidr[];
  /** Allowed origins of the dashboard. Null allows all. */
  readonly publicOrigins: readonly string[] | null;
  readonly about: About;
  /** The route that opens the dashboard of `sched dev` without a password. Null in every other service. */
  readonly localSignIn: LocalSignIn | null;
  readonly pageFolder?: string;
}

/** `shared` is what the dashboard shares with `/v1`. Returns the routes. */
export function mountDashboard(
  server: FastifyInstance,
  shared: Shared,
  dependencies: DashboardDependencies,
): readonly Route[] {
  const { store, clock, timers, log } = dependencies;
  const throttle = new LoginThrottle(store.people, clock);
  const routes = routesOf(
    { ...dependencies, throttle, failedLogins: new FailedLoginLog(dependencies) },
    shared,
  );
  const refusals = new RoleRefusals(dependencies);
  const authorizer = new Authorizer({
    routes,
    store,
    pause: (userId) => pauses.pause(userId),
    onRefused: (action) => refusals.record(action),
    auditor: (action, act) => runAudited(dependencies, action, act, ({ subject }) => subject),
  });
  const pauses = pausesOf(timers);
  const concurrency = new ConcurrencyLimit(pauses);
  const get: WatchDependencies['get'] = (caller, path) =>
    concurrency.run(`live ${caller.user.id}`, () => authorizer.get(caller, path));
  const addresses = new ClientAddressResolver(dependencies.trustedProxies, log);
  mountControl(server, {
    guard: new SessionGuard(dependencies, addresses),
    addresses,
    publicOrigins: dependencies.publicOrigins,
    authorizer,
    concurrency,
    bodies: shared.bodies,
    pauses,
    routes,
    live: new LiveStreams({ timers, log, get }),
    cookieSeconds: SESSION_MS_MAX / MS_PER_SECOND,
    pageFolder: dependencies.pageFolder ?? PAGE_FOLDER,
    log,
  });
  return routes;
}

function routesOf(
  dependencies: DashboardDependencies & PeopleDependencies,
  shared: Shared,
): readonly Route[] {
  const { insight, jobs, alerts } = dependencies.store;
  const { node } = dependencies.about;
  const data: DataDependencies = { ...dependencies, ...shared, insight, jobs, alerts, node };
  return [
    ...signInRoutes(dependencies, dependencies.localSignIn, () => insight.warmUp()),
    ...sessionRoutes(dependencies),
    ...projectRoutes(dependencies),
    ...peopleRoutes(dependencies),
    ...installationRoutes(dependencies, dependencies.about),
    ...keyRoutes(dependencies),
    ...secretRoutes(dependencies),
    ...dataRoutes(data),
  ];
}
