import { expect, test } from 'vitest';
import { runCommandWith } from '#test/process/run-command.ts';

/** The text that a person reads who types these words. */
async function answerTo(words: string): Promise<string> {
  const { code, stdout, stderr } = await runCommandWith({}, words.split(' '));
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  return stderr;
}

test.each([
  ['list', 'There is no command list. Did you mean schedules list or deliveries list?'],
  ['start', 'There is no command start. Did you mean dev or serve?'],
  ['version', 'There is no command version. Did you mean --version?'],
  ['login', 'There is no command login. Did you mean context?'],
  ['logs', 'There is no command logs. Did you mean tail?'],
  ['schedule list', 'There is no command schedule. Did you mean schedules?'],
  ['schedules ls', 'There is no command ls. Did you mean list?'],
  ['schedules delete sch_1', 'There is no command delete. Did you mean cancel?'],
  ['schedules get sch_1', 'There is no command get. Did you mean show?'],
  ['schedules run nightly', 'There is no command run. Did you mean trigger?'],
  ['schedules apply nightly', 'There is no command apply. Did you mean put?'],
  ['trigger nightly', 'There is no command trigger. Did you mean schedules trigger?'],
  ['endpoints rm ep_1', 'There is no command rm. Did you mean archive?'],
  ['key delete key_1', 'There is no command delete. Did you mean revoke?'],
  ['deliveries retry dlv_1', 'There is no command retry. Did you mean replay?'],
  ['nonsense', 'There is no command nonsense. "sched --help" lists the commands.'],
  ['key nonsense', 'There is no command nonsense. "sched key --help" lists the commands.'],
  ['help nonsense', 'There is no command nonsense. "sched --help" lists the commands.'],
  ['help key nonsense', 'There is no command nonsense. "sched key --help" lists the commands.'],
  ['schedules create --timezone Europe/Berlin', 'There is no option --timezone. Did you mean --tz?'],
  ['schedules create --fire-at 2027-01-01', 'There is no option --fire-at. Did you mean --at?'],
  ['schedules create -X POST', 'There is no option -X. Did you mean --method?'],
  ['schedules list -o json', 'There is no option -o. Did you mean --json?'],
  ['deliveries list --schedule-id a', 'There is no option --schedule-id. Did you mean --schedule?'],
  ['dev -p 9090', 'There is no option -p. Did you mean --port?'],
  [
    'schedules list --nonsense',
    'There is no option --nonsense. "sched schedules list --help" lists the options.',
  ],
  [
    'schedules update sch_1 --cron 0',
    'There is no option --cron. "sched schedules reschedule" changes the time of a schedule: it has --cron.',
  ],
  [
    'schedules update sch_1 --timezone UTC',
    'There is no option --timezone. "sched schedules reschedule" changes the time of a schedule: it has --tz.',
  ],
  [
    'schedules reschedule sch_1 --ttl 1h',
    'There is no option --ttl. "sched schedules update" changes everything but the time: it has --ttl.',
  ],
  ['schedules show', 'The argument <schedule> is missing: sched schedules show <schedule>'],
  ['key create', 'The option --mode <mode> is missing. It must be one of test, live.'],
])('sched %s', async (words, answer) => {
  expect(await answerTo(words)).toBe(`sched: ${answer}\n`);
});

test.each([
  ['help', 'sched [options] [command]'],
  ['help schedules', 'sched schedules [options] [command]'],
  ['help schedules create', 'sched schedules create [options]'],
  ['schedules help', 'sched schedules [options] [command]'],
  ['schedules help create', 'sched schedules create [options]'],
  ['help verify', 'sched verify [options] [file]'],
])('sched %s prints help', async (words, usage) => {
  const { code, stdout, stderr } = await runCommandWith({}, words.split(' '));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: /);
  expect(stdout.split('\n', 1)).toEqual([`Usage: ${usage}`]);
});
