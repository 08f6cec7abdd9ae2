/** Everything that can be asked and done of one project in one mode, keys and secrets aside. */
import type { ProjectAsked, Route } from '#src/control/http/route.ts';
import { calendarRoute } from './calendar.ts';
import { destinationRoutes } from './destinations.ts';
import { detailsRoute } from './details.ts';
import { operationRoutes } from './operations.ts';
import { overviewRoute } from './overview.ts';
import { previewRoute } from './preview.ts';
import { replayRoutes } from './replays.ts';
import { revealRoutes } from './reveal.ts';
import { searchRoute } from './search.ts';
import { upcomingRoute } from './upcoming.ts';
import type { DataWorld } from './world.ts';

export function dataRoutes(world: DataWorld): readonly Route<ProjectAsked>[] {
  return [
    ...operationRoutes(world),
    overviewRoute(world),
    upcomingRoute(world),
    searchRoute(world),
    previewRoute(world),
    calendarRoute(world),
    detailsRoute(world),
    ...destinationRoutes(world),
    ...replayRoutes(world),
    ...revealRoutes(world),
  ];
}
