/** The version, the store and the retention of this installation. */
import type { About } from '../../../../src/control/http/contract.ts';
import { Card, DetailList, Loaded } from '../../components/page.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { formatDuration } from '../../duration.ts';
import { useLive } from '../../live.ts';
import { SettingsPage } from './settings-page.tsx';

const STORES = {
  sqlite: 'SQLite, one process',
  postgres: 'PostgreSQL, one or more nodes',
} as const;

export function AboutPage() {
  const live = useLive<About>('about');
  return (
    <SettingsPage title="About and retention">
      <Loaded live={live} skeleton={<Skeleton height={220} />}>
        {(about) => (
          <div class="grid items-start gap-4 lg:grid-cols-2">
            <Card title="Installation">
              <DetailList
                items={[
                  ['Version', about.version],
                  ['Store', STORES[about.store]],
                  ['Node', about.node],
                ]}
              />
            </Card>
            <Card title="Retention">
              <p class="mb-2">
                {about.retention === null ? (
                  'Schedules and deliveries that ended are kept forever.'
                ) : (
                  <>
                    Schedules and deliveries that ended are removed after{' '}
                    <strong>{formatDuration(about.retention)}</strong>, with their attempts.
                  </>
                )}
              </p>
              <p class="text-dim">
                The setting <code class="font-mono">SCHED_RETENTION</code> changes this. The charts of the
                overview cover at most 30 days.
              </p>
            </Card>
          </div>
        )}
      </Loaded>
    </SettingsPage>
  );
}
