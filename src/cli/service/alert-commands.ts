import { type Command, Option } from 'commander';
import type { CliDependencies } from '#src/cli/command.ts';
import { ALERT_CHANNEL_KINDS, ALERT_CONDITION_KINDS } from '#src/domain/alert.ts';
import { addAction, addModeOption, addProjectOption } from './service-options.ts';

const CHANNEL = '<channel>';
const CHANNEL_ABOUT = 'name or id of the channel';
const CHANNELS = '--channels <list>';
const CHANNELS_ABOUT = 'names or ids of the channels to tell, separated by commas';
const THRESHOLD = '--threshold <count>';
const THRESHOLD_ABOUT = 'for deliveries_failed: more failures than this raise an alert';
const WINDOW = '--window-minutes <count>';
const WINDOW_ABOUT = 'for deliveries_failed: within how many minutes, 1 to 1440';

export function alertCommands(alerts: Command, dependencies: CliDependencies): void {
  alerts.addHelpText(
    'after',
    `
Examples:
  sched alert channel create --mode live --kind slack --name ops
  sched alert channel test --mode live ops
  sched alert condition create --mode live --kind breaker_opened --channels ops
  sched alert incident list --mode live`,
  );
  const group = (name: string, about: string) => alerts.command(name).description(about).helpCommand(false);
  channelCommands(group('channel', 'Create, list, test and change channels'), dependencies);
  conditionCommands(group('condition', 'Create, list and change conditions'), dependencies);
  incidentCommands(group('incident', 'List and show incidents'), dependencies);
}

function channelCommands(channels: Command, dependencies: CliDependencies): void {
  const actions = () => import('./alert-channel-actions.ts');

  const create = channels
    .command('create')
    .description('Create a channel; its URL is read from a prompt or standard input')
    .addOption(
      new Option('--kind <kind>', 'signed webhook, or incoming webhook of Slack')
        .choices(ALERT_CHANNEL_KINDS)
        .makeOptionMandatory(),
    )
    .requiredOption('--name <name>', 'name of the channel');
  addAction(ofProject(create), dependencies, async (given) => (await actions()).runCreate(given));

  const list = channels.command('list').description('List the channels');
  addAction(ofProject(list), dependencies, async (given) => (await actions()).runList(given));

  const rename = channels
    .command('rename')
    .argument(CHANNEL, CHANNEL_ABOUT)
    .description('Give a channel another name')
    .requiredOption('--name <name>', 'new name');
  addAction(ofProject(rename), dependencies, async (given, name) => (await actions()).runRename(given, name));

  const test = channels
    .command('test')
    .argument(CHANNEL, CHANNEL_ABOUT)
    .description('Send a test message by the running service, and wait for its outcome');
  addAction(ofProject(test), dependencies, async (given, name) =>
    (await actions()).runTest(given, name, dependencies),
  );

  const reveal = channels
    .command('reveal')
    .argument(CHANNEL, CHANNEL_ABOUT)
    .description('Show the whole URL of a channel');
  addAction(ofProject(reveal), dependencies, async (given, name) => (await actions()).runReveal(given, name));

  const remove = channels
    .command('remove')
    .argument(CHANNEL, CHANNEL_ABOUT)
    .description('Remove a channel that no condition uses');
  addAction(ofProject(remove), dependencies, async (given, name) => (await actions()).runRemove(given, name));
}

function conditionCommands(conditions: Command, dependencies: CliDependencies): void {
  const actions = () => import('./alert-condition-actions.ts');

  const create = conditions
    .command('create')
    .description('Create a condition, and tell channels when it is true')
    .addOption(
      new Option('--kind <kind>', 'what raises an alert')
        .choices(ALERT_CONDITION_KINDS)
        .makeOptionMandatory(),
    )
    .requiredOption(CHANNELS, CHANNELS_ABOUT)
    .option(THRESHOLD, THRESHOLD_ABOUT)
    .option(WINDOW, WINDOW_ABOUT);
  addAction(ofProject(create), dependencies, async (given) => (await actions()).runCreate(given));

  const list = conditions.command('list').description('List the conditions');
  addAction(ofProject(list), dependencies, async (given) => (await actions()).runList(given));

  const update = conditions
    .command('update')
    .argument('<id>')
    .description('Change a condition; a disabled one ends its incidents')
    .option(CHANNELS, CHANNELS_ABOUT)
    .option(THRESHOLD, THRESHOLD_ABOUT)
    .option(WINDOW, WINDOW_ABOUT)
    .addOption(new Option('--enabled <flag>', 'whether it is evaluated').choices(['true', 'false']));
  addAction(ofProject(update), dependencies, async (given, id) => (await actions()).runUpdate(given, id));

  const remove = conditions.command('remove').argument('<id>').description('Remove a condition');
  addAction(ofProject(remove), dependencies, async (given, id) => (await actions()).runRemove(given, id));
}

function incidentCommands(incidents: Command, dependencies: CliDependencies): void {
  const actions = () => import('./alert-incident-actions.ts');

  const list = incidents
    .command('list')
    .description('List the incidents, newest first')
    .option('--limit <count>', 'how many, 1 to 1000', '20');
  addAction(ofProject(list), dependencies, async (given) => (await actions()).runList(given));

  const show = incidents
    .command('show')
    .argument('<id>')
    .description('Show an incident and its last messages');
  addAction(ofProject(show), dependencies, async (given, id) => (await actions()).runShow(given, id));
}

function ofProject(command: Command): Command {
  return addModeOption(addProjectOption(command));
}
