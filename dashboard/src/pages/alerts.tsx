/** The alerts of a project and mode: incidents, and the conditions and channels that people set. */
import type { AlertChannelInfo, AlertConditionInfo } from '../../../src/control/http/alert-contract.ts';
import type { Listed } from '../../../src/control/http/contract.ts';
import { Card, Loaded, Page } from '../components/page.tsx';
import { TableSkeleton } from '../components/skeleton.tsx';
import { useLive } from '../live.ts';
import { apiPath } from '../session.ts';
import { Channels } from './alerts/channels.tsx';
import { Conditions } from './alerts/conditions.tsx';
import { Incidents } from './alerts/incidents.tsx';

export function AlertsPage() {
  const channels = useLive<Listed<AlertChannelInfo>>(apiPath('alerts/channels'));
  const conditions = useLive<Listed<AlertConditionInfo>>(apiPath('alerts/conditions'));
  return (
    <Page title="Alerts" lead="An alert tells people once when something is wrong, and once when it is over.">
      <div class="space-y-4">
        <Loaded
          live={channels}
          skeleton={
            <Card>
              <TableSkeleton label="Loading alerts" />
            </Card>
          }
        >
          {({ data }) => (
            <>
              <Incidents hasConditions={(conditions.data?.data.length ?? 0) > 0} />
              <Conditions live={conditions} channels={data} />
              <Channels channels={data} />
            </>
          )}
        </Loaded>
      </div>
    </Page>
  );
}
