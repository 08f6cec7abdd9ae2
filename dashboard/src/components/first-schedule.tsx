/** The help for a project without schedules. */
import { hasRole, hrefInProject, scope } from '../session.ts';
import { ButtonLink } from './button.tsx';
import { CopyBlock } from './copy.tsx';
import { EmptyState } from './empty-state.tsx';

function exampleCommand(): string {
  return `curl ${location.origin}/v1/schedules \\
  -H "Authorization: Bearer $SCHED_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"endpoint": "https://example.com/hooks/hello",
       "delay": "10s",
       "body": "{\\"hello\\":\\"world\\"}"}'`;
}

export function FirstScheduleHelp() {
  const mode = scope.value?.mode ?? 'test';
  return (
    <EmptyState icon="schedules" title="No schedules yet">
      <p class="max-w-prose">
        A schedule sends an HTTP request, once or repeatedly. This command creates one that fires in 10
        seconds. Use an API key of {mode} mode and your own URL.
      </p>
      <div class="w-full max-w-2xl text-left text-ink">
        <CopyBlock label="Command that creates a schedule" text={exampleCommand()} />
      </div>
      <div class="flex flex-wrap justify-center gap-2">
        {hasRole('operator') ? (
          <ButtonLink kind="primary" icon="plus" href={hrefInProject('schedules/new')}>
            New schedule
          </ButtonLink>
        ) : null}
        {hasRole('admin') ? <ButtonLink href={hrefInProject('settings/keys')}>API keys</ButtonLink> : null}
      </div>
    </EmptyState>
  );
}
