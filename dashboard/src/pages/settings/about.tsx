/** What this installation is, and how long it remembers. */
import type { About } from '../../../../src/control/http/contract.ts';
import { Card, Facts, Loaded } from '../../components/page.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { durationWords } from '../../duration.ts';
import { useLive } from '../../live.ts';
import { Settings } from './frame.tsx';

const STORES = {
  sqlite: 'SQLite, one process on a file',
  postgres: 'PostgreSQL, one or more nodes',
} as const;

export function AboutPage() {
  const live = useLive<About>('about');
  return (
    <Settings title="About">
      <Loaded live={live} skeleton={<Skeleton height={220} />}>
        {(about) => (
          <div class="grid items-start gap-4 lg:grid-cols-2">
            <Card title="Installation">
              <Facts
                facts={[
                  ['Version', about.version],
                  ['Store', STORES[about.store]],
                  ['Answered by', about.node],
                ]}
              />
            </Card>
            <Card title="Retention">
              <p class="mb-2">
                {about.retention === null ? (
                  'Deliveries that ended are kept for ever.'
                ) : (
                  <>
                    Deliveries that ended are removed after <strong>{durationWords(about.retention)}</strong>,
                    with their attempts.
                  </>
                )}
              </p>
              <p class="text-dim">
                It is set where the service is started, by <code class="font-mono">SCHED_RETENTION</code>.
                Charts of the overview reach back 30 days.
              </p>
            </Card>
          </div>
        )}
      </Loaded>
    </Settings>
  );
}
