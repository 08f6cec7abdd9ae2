/** The work of `sched alert channel`. The URL of a channel is a credential, so no flag takes it. */
import type { Given } from '#src/app/config.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { CommandFailure, EXIT, wrongUsage } from '#src/cli/failure.ts';
import { readSecretFromStdin } from '#src/cli/terminal/input.ts';
import { type Answer, table } from '#src/cli/terminal/output.ts';
import { askSecret, canAsk } from '#src/cli/terminal/prompt.ts';
import {
  createChannel,
  removeChannel,
  renameChannel,
  revealChannel,
  testChannel,
} from '#src/control/alerts.ts';
import { presentChannel, presentMessage } from '#src/control/http/present-alerts.ts';
import { ALERT_CHANNEL_KINDS } from '#src/domain/alert.ts';
import type { AlertMessage } from '#src/domain/alert-message.ts';
import { pause } from '#src/ports/system.ts';
import { type AlertSession, channelNamed, withAlerts } from './alert-session.ts';
import type { CommandAct } from './command-audit.ts';

/** A running service takes a waiting message within some seconds, and an attempt takes 15 s at most. */
const LOOK_EVERY_MS = 250;
const LOOKS_MAX = 120;

export async function runCreate(given: Given): Promise<Answer> {
  const { '--name': name = '', '--kind': wanted } = given.flags;
  const kind = ALERT_CHANNEL_KINDS.find((one) => one === wanted) ?? 'webhook';
  const url = await askForUrl();
  return withAlerts(given, async ({ commands, partition, place, audited }) => {
    const channel = await audited(
      { action: 'alert_channel.create', detail: { kind, name } },
      () => createChannel(commands, partition, { kind, name, url }),
      ({ id }) => id,
    );
    return {
      json: presentChannel(channel),
      text: `Channel ${name} (${channel.id}) is created. Next: sched alert channel test --mode ${place.mode} ${channel.id}`,
    };
  });
}

async function askForUrl(): Promise<string> {
  if (canAsk()) return askSecret('URL of the channel (not shown): ');
  if (process.stdin.isTTY) throw wrongUsage('Give the URL of the channel on standard input.');
  return readSecretFromStdin('The URL');
}

export function runList(given: Given): Promise<Answer> {
  return withAlerts(given, async ({ commands, partition }) => {
    const channels = (await commands.alerts.listChannels(partition)).map(presentChannel);
    const rows = channels.map(({ id, name, kind, url, created_at }) => [name, id, kind, url, created_at]);
    return { json: channels, text: table([['NAME', 'ID', 'KIND', 'URL', 'CREATED'], ...rows]) };
  });
}

export function runRename(given: Given, channel: string): Promise<Answer> {
  const { '--name': name = '' } = given.flags;
  const act = { action: 'alert_channel.rename', detail: { name } };
  return onChannel(given, channel, act, async ({ commands, partition }, id) => {
    const renamed = await renameChannel(commands, partition, id, name);
    return { json: presentChannel(renamed), text: `Channel ${id} is now named ${name}.` };
  });
}

export function runRemove(given: Given, channel: string): Promise<Answer> {
  return onChannel(
    given,
    channel,
    { action: 'alert_channel.remove' },
    async ({ commands, partition }, id) => {
      const { name } = await removeChannel(commands, partition, id);
      return { json: { id, name, removed: true }, text: `Channel ${name} is removed.` };
    },
  );
}

export function runReveal(given: Given, channel: string): Promise<Answer> {
  return onChannel(
    given,
    channel,
    { action: 'alert_channel.reveal' },
    async ({ commands, partition }, id) => {
      const url = await revealChannel(commands, partition, id);
      return { json: { id, url }, text: url };
    },
  );
}

/** The outcome may be a failure of the channel, which is a failure of the command too. */
export async function runTest(given: Given, channel: string, { timers }: CliDependencies): Promise<Answer> {
  return onChannel(
    given,
    channel,
    { action: 'alert_channel.test' },
    async ({ commands, partition, place }, id) => {
      let message: AlertMessage = await testChannel(commands, partition, id, place);
      for (let looks = 0; looks < LOOKS_MAX && message.endedAt === null; looks++) {
        await pause(timers, LOOK_EVERY_MS);
        message = (await commands.alerts.findMessage(partition, message.id)) ?? message;
      }
      if (message.error !== null) {
        throw new CommandFailure(`The test message was not delivered: ${message.error}.`, EXIT.failed);
      }
      const text =
        message.status === 'delivered'
          ? `The test message ${message.id} is delivered.`
          : `The test message ${message.id} still waits. Check that the service runs.`;
      return { json: presentMessage(message), text };
    },
  );
}

function onChannel(
  given: Given,
  channel: string,
  act: Pick<CommandAct, 'action' | 'detail'>,
  run: (session: AlertSession, id: Awaited<ReturnType<typeof channelNamed>>['id']) => Promise<Answer>,
): Promise<Answer> {
  return withAlerts(given, async (session) => {
    const { commands, partition, audited } = session;
    const { id } = await channelNamed(commands.alerts, partition, channel);
    return audited({ ...act, subject: id }, () => run(session, id));
  });
}
