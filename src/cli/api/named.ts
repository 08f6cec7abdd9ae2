/**
 * Schedules and endpoint profiles are given by id or by name. A text that begins as an id does is an id, so that a command
 * with an id never means another object that has it as its name. Any other text is a name.
 */
import type { Command } from 'commander';
import type { Sched } from '#sdk/index.ts';
import { type Options, textOf } from '#src/cli/options.ts';
import { isName } from '#src/domain/name.ts';

const SCHEDULE_PREFIX = 'sch_';
const PROFILE_PREFIX = 'ep_';

export function addScheduleArgument(command: Command): Command {
  return command.argument('<schedule>', 'id (it begins with sch_), otherwise the name');
}

export function addProfileArgument(command: Command): Command {
  return command.argument('<profile>', 'id (it begins with ep_), otherwise the name');
}

/** An ended schedule is found by its id alone, because its name is free again. */
export async function scheduleIdOf(
  { schedules }: Sched,
  text: string,
  signal?: AbortSignal,
): Promise<string> {
  return isId(text, SCHEDULE_PREFIX) ? text : (await schedules.getNamed(text, { signal })).id;
}

export async function profileIdOf({ endpoints }: Sched, text: string): Promise<string> {
  return isId(text, PROFILE_PREFIX) ? text : (await endpoints.getNamed(text)).id;
}

/** The service refuses a text that can be neither. */
function isId(text: string, prefix: string): boolean {
  return text.startsWith(prefix) || !isName(text);
}

/** The id for a filter that may not be given. */
export async function givenProfileId(sched: Sched, text: string | undefined): Promise<string | undefined> {
  return text === undefined ? undefined : profileIdOf(sched, text);
}

/** The options of a command that writes, in which each name of a profile is replaced by its id. */
export async function withProfileIds(sched: Sched, options: Options): Promise<Options> {
  const endpointId = await givenProfileId(sched, textOf(options, 'endpointId'));
  const notify = await givenProfileId(sched, textOf(options, 'notify'));
  return { ...options, endpointId, notify };
}

export async function givenScheduleId(sched: Sched, text: string | undefined): Promise<string | undefined> {
  return text === undefined ? undefined : scheduleIdOf(sched, text);
}
