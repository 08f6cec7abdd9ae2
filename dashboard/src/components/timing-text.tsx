/** The timing of a schedule in description, with its cron expression and its zone. */
import type { Schedule } from '../../../sdk/src/api-types.ts';
import { describeCron } from '../model/describe-cron.ts';
import { Instant } from './instant.tsx';

export function CronText({ cron, timezone }: { readonly cron: string; readonly timezone: string | null }) {
  const description = describeCron(cron);
  return (
    <span>
      {description === null ? null : <span class="block">{description}</span>}
      <span class="text-sm text-dim">
        <code class="font-mono">{cron}</code>
        {timezone === null ? null : ` ${timezone}`}
      </span>
    </span>
  );
}

export function TimingText({ schedule }: { readonly schedule: Schedule }) {
  if (schedule.cron !== null) return <CronText cron={schedule.cron} timezone={schedule.timezone} />;
  return (
    <span>
      <span class="block">Once</span>
      {schedule.fire_at === null ? null : (
        <span class="text-sm text-dim">
          <Instant at={schedule.fire_at} zone={schedule.timezone} />
        </span>
      )}
    </span>
  );
}
