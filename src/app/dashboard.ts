/** The dashboard of a service: its control plane and its page, put together and hung into the server. */
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Shared } from '#src/api/server.ts';
import { pausesOf } from '#src/commands/pauses.ts';
import { audited } from '#src/control/audit.ts';
import type { DataDependencies } from '#src/control/data/dependencies.ts';
import { dataRoutes } from '#src/control/data/routes.ts';
import type { PeopleDependencies, SealingDependencies } from '#src/control/dependencies.ts';
import { ClientAddresses } from '#src/control/http/client-address.ts';
import type { About } from '#src/control/http/contract.ts';
import { Desk, type Routes } from '#src/control/http/desk.ts';
import { Door } from '#src/control/http/door.ts';
import type { PublicRoute } from '#src/control/http/route.ts';
import { aboutRoutes } from '#src/control/http/routes/about.ts';
import { auditRoutes } from '#src/control/http/routes/audit.ts';
import { endpointSecretRoutes } from '#src/control/http/routes/endpoint-secrets.ts';
import { entryRoutes } from '#src/control/http/routes/entry.ts';
import { keyRoutes } from '#src/control/http/routes/keys.ts';
import { peopleRoutes } from '#src/control/http/routes/people.ts';
import { projectRoutes } from '#src/control/http/routes/projects.ts';
import { secretRoutes } from '#src/control/http/routes/secrets.ts';
import { sessionRoutes } from '#src/control/http/routes/session.ts';
import { mountControl } from '#src/control/http/server.ts';
import { Turns } from '#src/control/http/turns.ts';
import { Live } from '#src/control/live/live.ts';
import type { WatchDependencies } from '#src/control/live/watch.ts';
import { LoginTrace } from '#src/control/login-trace.ts';
import type { Passwords } from '#src/control/passwords.ts';
import { RoleRefusals } from '#src/control/role-refusals.ts';
import { SESSION_MS_MAX } from '#src/control/sessions.ts';
import { LoginThrottle } from '#src/control/throttle.ts';
import type { Cidr } from '#src/domain/public-address.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import type { Log } from '#src/ports/telemetry.ts';

/** Where `npm run dashboard:build` puts the page. */
const PAGE_FOLDER = join(import.meta.dirname, '../../dashboard/dist');
const MS_PER_SECOND = 1_000;

export interface DashboardDependencies
  extends SealingDependencies,
    Pick<DataDependencies, 'timers' | 'httpAllowed' | 'isCluster' | 'wakeReplays'> {
  readonly store: SealingDependencies['store'] & {
    readonly insight: InsightStore;
    readonly jobs: ReplayJobStore;
  };
  readonly passwords: Passwords;
  readonly log: Log;
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly Cidr[];
  /** Origins of the dashboard; null accepts any. */
  readonly publicOrigins: readonly string[] | null;
  readonly about: About;
  readonly pageFolder?: string;
}

export type DashboardRoutes = Routes & { readonly publicRoutes: readonly PublicRoute[] };

/** `shared`: what it has in common with `/v1`. Answers which routes there are. */
export function mountDashboard(
  server: FastifyInstance,
  shared: Shared,
  dependencies: DashboardDependencies,
): DashboardRoutes {
  const { store, clock, timers, log } = dependencies;
  const throttle = new LoginThrottle(store.people, clock);
  const routes = routesOf({ ...dependencies, throttle, loginTrace: new LoginTrace(dependencies) }, shared);
  const refusals = new RoleRefusals(dependencies);
  const desk = new Desk({
    ...routes,
    store,
    pause: (who) => pauses.pause(who),
    onRefused: (act) => refusals.note(act),
    auditor: (act, carryOut) => audited(dependencies, act, carryOut, ({ subject }) => subject),
  });
  const pauses = pausesOf(timers);
  const turns = new Turns(pauses);
  const ask: WatchDependencies['ask'] = (caller, path) =>
    turns.take(`live ${caller.user.id}`, () => desk.ask(caller, path));
  const addresses = new ClientAddresses(dependencies.trustedProxies, log);
  mountControl(server, {
    door: new Door(dependencies, addresses),
    addresses,
    publicOrigins: dependencies.publicOrigins,
    desk,
    turns,
    bodies: shared.bodies,
    pauses,
    publicRoutes: routes.publicRoutes,
    live: new Live({ timers, log, ask }),
    cookieSeconds: SESSION_MS_MAX / MS_PER_SECOND,
    pageFolder: dependencies.pageFolder ?? PAGE_FOLDER,
    log,
  });
  return routes;
}

function routesOf(dependencies: DashboardDependencies & PeopleDependencies, shared: Shared): DashboardRoutes {
  const { insight, jobs } = dependencies.store;
  const data: DataDependencies = { ...dependencies, ...shared, insight, jobs, node: dependencies.about.node };
  return {
    publicRoutes: entryRoutes(dependencies, () => insight.lookedAtSoon()),
    routes: [
      ...sessionRoutes(dependencies),
      ...projectRoutes(dependencies),
      ...peopleRoutes(dependencies),
      ...auditRoutes(dependencies),
      ...aboutRoutes(dependencies.about),
    ],
    projectRoutes: [
      ...keyRoutes(dependencies),
      ...secretRoutes(dependencies),
      ...endpointSecretRoutes(dependencies),
      ...dataRoutes(data),
    ],
  };
}
