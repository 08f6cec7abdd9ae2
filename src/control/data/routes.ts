/** The routes of one project in one mode, except keys and secrets. */
import type { ProjectRoute } from '#src/control/http/route.ts';
import { alertRoutes } from './alerts.ts';
import { attemptLookupRoute } from './attempt-lookup.ts';
import { calendarRoute } from './calendar.ts';
import { deliverySearchRoute } from './delivery-search.ts';
import type { DataDependencies } from './dependencies.ts';
import { destinationRoutes } from './destinations.ts';
import { detailsRoute } from './details.ts';
import { operationRoutes } from './operations.ts';
import { overviewRoute } from './overview.ts';
import { previewRoute } from './preview.ts';
import { replayRoutes } from './replays.ts';
import { revealRoutes } from './reveal.ts';
import { searchRoute } from './search.ts';
import { upcomingRoute } from './upcoming.ts';

export function dataRoutes(dependencies: DataDependencies): readonly ProjectRoute[] {
  return [
    ...operationRoutes(dependencies),
    overviewRoute(dependencies),
    upcomingRoute(dependencies),
    searchRoute(dependencies),
    deliverySearchRoute(dependencies),
    previewRoute(dependencies),
    calendarRoute(dependencies),
    detailsRoute(dependencies),
    attemptLookupRoute(dependencies),
    ...destinationRoutes(dependencies),
    ...replayRoutes(dependencies),
    ...revealRoutes(dependencies),
    ...alertRoutes(dependencies),
  ];
}
