/** The dashboard of a service: its control plane and its page, put together and hung into the server. */
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Shared } from '#src/api/server.ts';
import { pausesOf } from '#src/commands/pauses.ts';
import { audited } from '#src/control/audit.ts';
import { dataRoutes } from '#src/control/data/routes.ts';
import type { DataWorld } from '#src/control/data/world.ts';
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
import type { WatchWorld } from '#src/control/live/watch.ts';
import { LoginTrace } from '#src/control/login-trace.ts';
import type { Passwords } from '#src/control/passwords.ts';
import { RoleRefusals } from '#src/control/role-refusals.ts';
import { SESSION_MS_MAX } from '#src/control/sessions.ts';
import { LoginThrottle } from '#src/control/throttle.ts';
import type { PeopleWorld, SealingWorld } from '#src/control/world.ts';
import type { Cidr } from '#src/domain/public-address.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import type { Log } from '#src/ports/telemetry.ts';

/** Where `npm run dashboard:build` puts the page. */
const PAGE_FOLDER = join(import.meta.dirname, '../../dashboard/dist');
const MS_PER_SECOND = 1_000;

export interface DashboardWorld
  extends SealingWorld,
    Pick<DataWorld, 'timers' | 'httpAllowed' | 'isCluster' | 'wakeReplays'> {
  readonly store: SealingWorld['store'] & { readonly insight: InsightStore; readonly jobs: ReplayJobStore };
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
  world: DashboardWorld,
): DashboardRoutes {
  const { store, clock, timers, log } = world;
  const throttle = new LoginThrottle(store.people, clock);
  const routes = routesOf({ ...world, throttle, loginTrace: new LoginTrace(world) }, shared);
  const refusals = new RoleRefusals(world);
  const desk = new Desk({
    ...routes,
    store,
    pause: (who) => pauses.pause(who),
    onRefused: (act) => refusals.note(act),
    auditor: (act, carryOut) => audited(world, act, carryOut, ({ subject }) => subject),
  });
  const pauses = pausesOf(timers);
  const turns = new Turns(pauses);
  const ask: WatchWorld['ask'] = (caller, path) =>
    turns.take(`live ${caller.user.id}`, () => desk.ask(caller, path));
  const addresses = new ClientAddresses(world.trustedProxies, log);
  mountControl(server, {
    door: new Door(world, addresses),
    addresses,
    publicOrigins: world.publicOrigins,
    desk,
    turns,
    bodies: shared.bodies,
    pauses,
    publicRoutes: routes.publicRoutes,
    live: new Live({ timers, log, ask }),
    cookieSeconds: SESSION_MS_MAX / MS_PER_SECOND,
    pageFolder: world.pageFolder ?? PAGE_FOLDER,
    log,
  });
  return routes;
}

function routesOf(world: DashboardWorld & PeopleWorld, shared: Shared): DashboardRoutes {
  const { insight, jobs } = world.store;
  const data: DataWorld = { ...world, ...shared, insight, jobs, node: world.about.node };
  return {
    publicRoutes: entryRoutes(world, () => insight.lookedAtSoon()),
    routes: [
      ...sessionRoutes(world),
      ...projectRoutes(world),
      ...peopleRoutes(world),
      ...auditRoutes(world),
      ...aboutRoutes(world.about),
    ],
    projectRoutes: [
      ...keyRoutes(world),
      ...secretRoutes(world),
      ...endpointSecretRoutes(world),
      ...dataRoutes(data),
    ],
  };
}
