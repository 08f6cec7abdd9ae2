import type { Command } from 'commander';
import type { Endpoint, EndpointCreate } from '#sdk/index.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, addRepeatable, isSet } from '#src/cli/options.ts';
import type { Answer, Json } from '#src/cli/terminal/output.ts';
import { METHODS } from '#src/domain/destination.ts';
import { endpointBody, requireChange } from './bodies.ts';
import { ENDPOINT_COLUMNS } from './columns.ts';
import { endpointText } from './details.ts';
import { addListOptions, listAnswer } from './lists.ts';
import { addProfileArgument, profileIdOf, withProfileIds } from './named.ts';
import { planAnswer, putAnswer } from './put-answer.ts';
import { type ServiceCall, withService } from './service-command.ts';
import {
  addDryRun,
  addNotifyOptions,
  addRequestKey,
  addRetryOptions,
  isDryRun,
  requestKeyOf,
} from './write-options.ts';

export function endpointCommands(endpoints: Command, dependencies: CliDependencies): void {
  const create = endpoints
    .command('create')
    .description('Create an endpoint profile')
    .addHelpText(
      'after',
      `
Examples:
  sched endpoints create --endpoint https://example.com/hook --timeout 10s \\
    --header "X-Tenant: acme"
  sched endpoints create --data @profile.json`,
    );
  withService(addRequestKey(addBodyOptions(addName(create))), dependencies, async (call) =>
    endpointAnswer(call, await call.sched.endpoints.create(await bodyOf(call), requestKeyOf(call.options))),
  );

  putCommand(endpoints, dependencies);

  const list = endpoints
    .command('list')
    .description('List endpoint profiles, newest first')
    .option('--include-archived', 'include archived endpoint profiles');
  withService(addListOptions(list), dependencies, (call) =>
    listAnswer(
      call,
      dependencies.notify,
      (query) =>
        call.sched.endpoints.list({ ...query, include_archived: isSet(call.options, 'includeArchived') }),
      ENDPOINT_COLUMNS,
    ),
  );

  const show = addProfileArgument(endpoints.command('show')).description('Show an endpoint profile');
  withService(show, dependencies, async (call) =>
    endpointAnswer(call, await call.sched.endpoints.get(await profileIdOf(call.sched, call.argument))),
  );

  const update = addProfileArgument(endpoints.command('update')).description(
    'Change an endpoint profile; fields that are not given stay as they are',
  );
  withService(addRequestKey(addBodyOptions(addName(update))), dependencies, async (call) => {
    const change = requireChange(await bodyOf(call), call.options);
    const id = await profileIdOf(call.sched, call.argument);
    return endpointAnswer(call, await call.sched.endpoints.update(id, change, requestKeyOf(call.options)));
  });

  const archive = addProfileArgument(endpoints.command('archive')).description(
    'Archive an endpoint profile; it stays readable',
  );
  withService(archive, dependencies, async (call) =>
    endpointAnswer(call, await call.sched.endpoints.archive(await profileIdOf(call.sched, call.argument))),
  );
}

function putCommand(endpoints: Command, dependencies: CliDependencies): void {
  const command = endpoints
    .command('put')
    .argument('<name>')
    .description('Create the endpoint profile of this name, or make it equal to the flags')
    .addHelpText(
      'after',
      `
A field that is not given gets its default value. A change creates a new
version. If everything is equal already, nothing is written.

Examples:
  sched endpoints put billing-hooks --endpoint https://example.com/hook \\
    --timeout 10s
  sched endpoints put billing-hooks --data @billing-hooks.json --dry-run`,
    );
  addDryRun(addBodyOptions(command));
  withService(command, dependencies, async (call) => {
    const { argument: name, options } = call;
    const body = await bodyOf(call);
    const written = await call.sched.endpoints.put(name, body, { dryRun: isDryRun(options) });
    if (written.object === 'plan') return planAnswer(name, written);
    return putAnswer(name, written.putResult, await endpointAnswer(call, written));
  });
}

async function bodyOf({ sched, options }: ServiceCall): Promise<EndpointCreate> {
  return endpointBody(await withProfileIds(sched, options));
}

function addName(command: Command): Command {
  return command.option('--name <name>', 'name, unique among the profiles that are not archived');
}

function addBodyOptions(command: Command): Command {
  command.option('--endpoint <url>', 'URL to send requests to');
  addChoice(command, '--method <method>', 'HTTP method; default POST', METHODS);
  addRepeatable(
    command,
    '--header <line>',
    'header "Name: value"; the given headers replace all existing ones',
  );
  addChoice(
    command,
    '--standard-webhooks <true|false>',
    'sign requests for Standard Webhooks too; default false',
    ['true', 'false'],
  );
  addRetryOptions(command.option('--timeout <duration>', 'timeout of one attempt; default 30s'))
    .option('--response-excerpt <bytes>', 'keep this much of an answer that is not 2xx; at most 16384')
    .option('--retry-budget-rate <number>', 'retry budget: retries per second to this endpoint')
    .option('--retry-budget-burst <number>', 'retry budget: retries at once')
    .option('--rate-limit <number>', 'maximum deliveries per second; stored, not enforced yet')
    .option('--breaker-threshold <number>', 'failures in a row that open the circuit breaker')
    .option('--breaker-base-open <duration>', 'how long the breaker stays open at first')
    .option('--breaker-max-open <duration>', 'how long the breaker stays open at most')
    .option(
      '--breaker-probe-timeout <duration>',
      'how long other deliveries wait for a probe; give all four or none',
    );
  addNotifyOptions(command);
  addRepeatable(command, '--metadata <key=value>', 'label; the given labels replace all existing ones');
  command.option('--data <json>', 'whole request as JSON: TEXT, @file or -; other flags set its fields');
  return command;
}

async function endpointAnswer({ screen, now }: ServiceCall, endpoint: Endpoint): Promise<Answer> {
  return { json: endpoint as unknown as Json, text: endpointText(endpoint, screen, now()) };
}
