/** A line that leads to the open incidents. Without any there is none. */
import type { AlertIncidentInfo } from '../../../../src/control/http/alert-contract.ts';
import type { Listed } from '../../../../src/control/http/contract.ts';
import { withLineBreaks } from '../../components/copy.tsx';
import { Icon } from '../../components/icon.tsx';
import { plural } from '../../format.ts';
import { useLive } from '../../live.ts';
import { apiPath, hrefInProject } from '../../session.ts';
import { OPEN_INCIDENTS } from '../alerts/incidents.tsx';

export function OpenIncidents() {
  const live = useLive<Listed<AlertIncidentInfo>>(apiPath(OPEN_INCIDENTS));
  const [newest, ...others] = live.data?.data ?? [];
  if (newest === undefined) return null;
  return (
    <p class="card mb-4 flex gap-2 border-l-4 border-l-bad px-4 py-3">
      <Icon name="warning" className="mt-0.5 text-bad" />
      <span class="min-w-0">
        <a class="link" href={hrefInProject('alerts')}>
          {plural(others.length + 1, 'open incident')}
        </a>
        {others.length === 0 ? ': ' : '. The newest: '}
        {withLineBreaks(newest.title)}
      </span>
    </p>
  );
}
