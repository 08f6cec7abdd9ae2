import type { Command } from 'commander';
import type { Endpoint } from '#sdk/index.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, addRepeatable, isSet } from '#src/cli/options.ts';
import type { Answer, Json } from '#src/cli/terminal/output.ts';
import { METHODS } from '#src/domain/destination.ts';
import { endpointBody, requireChange } from './bodies.ts';
import { ENDPOINT_COLUMNS } from './columns.ts';
import { endpointText } from './details.ts';
import { addListOptions, listAnswer } from './lists.ts';
import { type ServiceCall, withService } from './service-command.ts';
import { addRequestKey, addRetryOptions, requestKeyOf } from './write-options.ts';

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
  withService(addBodyOptions(create), dependencies, async (call) =>
    endpointAnswer(
      call,
      await call.sched.endpoints.create(await endpointBody(call.options), requestKeyOf(call.options)),
    ),
  );

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

  const show = endpoints.command('show').argument('<id>').description('Show an endpoint profile');
  withService(show, dependencies, async (call) =>
    endpointAnswer(call, await call.sched.endpoints.get(call.argument)),
  );

  const update = endpoints
    .command('update')
    .argument('<id>')
    .description('Change an endpoint profile; fields that are not given stay as they are');
  withService(addBodyOptions(update), dependencies, async (call) => {
    const change = requireChange(await endpointBody(call.options), call.options);
    return endpointAnswer(
      call,
      await call.sched.endpoints.update(call.argument, change, requestKeyOf(call.options)),
    );
  });

  const archive = endpoints
    .command('archive')
    .argument('<id>')
    .description('Archive an endpoint profile; it stays readable');
  withService(archive, dependencies, async (call) =>
    endpointAnswer(call, await call.sched.endpoints.archive(call.argument)),
  );
}

function addBodyOptions(command: Command): Command {
  command.option('--endpoint <url>', 'URL to send requests to');
  addChoice(command, '--method <method>', 'HTTP method; default POST', METHODS);
  addRepeatable(
    command,
    '--header <line>',
    'header "Name: value"; the given headers replace all existing ones',
  );
  addRetryOptions(command.option('--timeout <duration>', 'timeout of one attempt; default 30s'))
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
  addRepeatable(command, '--metadata <key=value>', 'label; the given labels replace all existing ones');
  command.option('--data <json>', 'whole request as JSON: TEXT, @file or -; other flags set its fields');
  return addRequestKey(command);
}

async function endpointAnswer({ screen, now }: ServiceCall, endpoint: Endpoint): Promise<Answer> {
  return { json: endpoint as unknown as Json, text: endpointText(endpoint, screen, now()) };
}
