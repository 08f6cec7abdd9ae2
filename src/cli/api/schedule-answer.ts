/** Shows one schedule, with its next runs if they are wanted. */
import type { Schedule } from '#sdk/index.ts';
import type { Answer, Json } from '#src/cli/terminal/output.ts';
import { scheduleText } from './details.ts';
import type { ServiceCall } from './service-command.ts';

/** `local` is the wall-clock time that the user typed. The schedule itself only has the resulting instant. */
export async function scheduleAnswer(
  { isJson, screen, now }: ServiceCall,
  schedule: Schedule,
  runs: 'with runs' | 'alone' = 'alone',
  local: string | null = null,
): Promise<Answer> {
  const json = schedule as unknown as Json;
  if (isJson) return { json, text: '' };
  const text = scheduleText(schedule, screen, now());
  // Without a time zone, the text already shows the only instant.
  const hasRuns = runs === 'with runs' && schedule.timezone !== null && schedule.next_runs.length > 0;
  if (!hasRuns) return { json, text };
  // Loaded only here, because the time zones take longer to load than all other code.
  const { nextRunsText } = await import('./schedule-runs.ts');
  return { json, text: `${text}\n\n${nextRunsText(schedule, local, screen, now())}` };
}
