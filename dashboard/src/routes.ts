/**
 * The pages by their paths below `/dashboard/`. The first match counts. All pages are in one script: together they are
 * small, and an open page does not miss a file after an update of the service.
 */
import type { FunctionComponent } from 'preact';
import type { RoleName } from '../../src/control/http/contract.ts';
import { AlertsPage } from './pages/alerts.tsx';
import { DeliveriesPage } from './pages/deliveries.tsx';
import { DeliveryPage } from './pages/delivery.tsx';
import { EndpointPage } from './pages/endpoint.tsx';
import { EndpointsPage } from './pages/endpoints.tsx';
import { IncidentPage } from './pages/incident.tsx';
import { NewEndpointPage } from './pages/new-endpoint.tsx';
import { NewSchedulePage } from './pages/new-schedule.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { ReplayPage } from './pages/replay.tsx';
import { ReplaysPage } from './pages/replays.tsx';
import { SchedulePage } from './pages/schedule.tsx';
import { SchedulesPage } from './pages/schedules.tsx';
import { AboutPage } from './pages/settings/about.tsx';
import { AccountPage } from './pages/settings/account.tsx';
import { AuditPage } from './pages/settings/audit.tsx';
import { KeysPage } from './pages/settings/keys.tsx';
import { PeoplePage } from './pages/settings/people.tsx';
import { ProjectsPage } from './pages/settings/projects.tsx';
import { SecretsPage } from './pages/settings/secrets.tsx';
import { UpcomingPage } from './pages/upcoming.tsx';
import type { Params } from './router.ts';

export interface PageRoute {
  readonly pattern: string;
  readonly component: FunctionComponent<{ readonly params: Params }>;
  /** Undefined: every user who is signed in. */
  readonly needs?: RoleName;
}

const PROJECT = 'p/:project/:mode';

export const ROUTES: readonly PageRoute[] = [
  { pattern: PROJECT, component: OverviewPage },
  { pattern: `${PROJECT}/schedules`, component: SchedulesPage },
  { pattern: `${PROJECT}/schedules/new`, component: NewSchedulePage },
  { pattern: `${PROJECT}/schedules/:id`, component: SchedulePage },
  { pattern: `${PROJECT}/deliveries`, component: DeliveriesPage },
  { pattern: `${PROJECT}/deliveries/:id`, component: DeliveryPage },
  { pattern: `${PROJECT}/endpoints`, component: EndpointsPage },
  { pattern: `${PROJECT}/endpoints/new`, component: NewEndpointPage },
  { pattern: `${PROJECT}/endpoints/:id`, component: EndpointPage },
  { pattern: `${PROJECT}/upcoming`, component: UpcomingPage },
  { pattern: `${PROJECT}/alerts`, component: AlertsPage },
  { pattern: `${PROJECT}/alerts/:id`, component: IncidentPage },
  { pattern: `${PROJECT}/replays`, component: ReplaysPage },
  { pattern: `${PROJECT}/replays/:id`, component: ReplayPage },
  { pattern: `${PROJECT}/settings/keys`, component: KeysPage },
  { pattern: `${PROJECT}/settings/secrets`, component: SecretsPage },
  { pattern: 'settings/account', component: AccountPage },
  { pattern: 'settings/people', component: PeoplePage, needs: 'admin' },
  { pattern: 'settings/projects', component: ProjectsPage },
  { pattern: 'settings/audit', component: AuditPage, needs: 'admin' },
  { pattern: 'settings/about', component: AboutPage },
];
