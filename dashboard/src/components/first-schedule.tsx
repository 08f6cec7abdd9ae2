/** The help for a project without schedules. */
import { hasRole, hrefInProject, isDev, scope } from '../session.ts';
import { ButtonLink } from './button.tsx';
import { CopyBlock } from './copy.tsx';
import { EmptyState } from './empty-state.tsx';

function exampleCommand(key: string, endpoint: string): string {
  return `curl ${location.origin}/v1/schedules \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"endpoint": "${endpoint}",
       "delay": "10s",
       "body": "{\\"hello\\":\\"world\\"}"}'`;
}

export function FirstScheduleHelp() {
  const { project, mode } = scope.value ?? { project: '', mode: 'test' };
  // The keys of `sched dev` are fixed, and belong to this project.
  const isReady = isDev.value && project === 'default';
  const command = isReady
    ? exampleCommand(`sk_${mode}_local_development_only`, `${location.origin}/inbox/hook`)
    : exampleCommand('$SCHED_API_KEY', 'https://example.com/hooks/hello');
  return (
    <EmptyState icon="schedules" title="No schedules yet">
      <p class="max-w-prose">
        A schedule sends an HTTP request, once or repeatedly. This command creates one that fires in 10
        seconds.{' '}
        {isReady ? 'Its request arrives in the inbox.' : `Use an API key of ${mode} mode and your own URL.`}
      </p>
      <div class="w-full max-w-2xl text-left text-ink">
        <CopyBlock label="Command that creates a schedule" text={command} />
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
