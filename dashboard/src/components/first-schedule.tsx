/** Nothing is here yet: the shortest way to see something fire. */
import { may, place, toPage } from '../session.ts';
import { ButtonLink } from './button.tsx';
import { CopyBlock } from './copy.tsx';
import { Empty } from './empty.tsx';

function firstSchedule(): string {
  return `curl ${location.origin}/v1/schedules \\
  -H "Authorization: Bearer $SCHED_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"endpoint": "https://example.com/hooks/hello",
       "delay": "10s",
       "body": "{\\"hello\\":\\"world\\"}"}'`;
}

export function FirstScheduleHelp() {
  const mode = place.value?.mode ?? 'test';
  return (
    <Empty icon="schedules" title="No schedules yet">
      <p class="max-w-prose">
        A schedule sends one HTTP request, once or again and again. This one fires ten seconds from now; take
        an API key of {mode} mode and a destination of your own.
      </p>
      <div class="w-full max-w-2xl text-left text-ink">
        <CopyBlock label="Command that creates a schedule" text={firstSchedule()} />
      </div>
      <div class="flex flex-wrap justify-center gap-2">
        {may('operator') ? (
          <ButtonLink kind="primary" icon="plus" href={toPage('schedules/new')}>
            New schedule
          </ButtonLink>
        ) : null}
        {may('admin') ? <ButtonLink href={toPage('settings/keys')}>API keys</ButtonLink> : null}
      </div>
    </Empty>
  );
}
