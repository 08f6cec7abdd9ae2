import type { Command } from 'commander';
import type { Endpoint } from '#sdk/index.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { addChoice, addRepeatable, isSet } from '#src/cli/options.ts';
import type { Answer, Json } from '#src/cli/terminal/output.ts';
import { METHODS } from '#src/domain/destination.ts';
import { endpointBody } from './bodies.ts';
import { ENDPOINT_COLUMNS } from './columns.ts';
import { endpointText } from './details.ts';
import { addListOptions, listAnswer } from './lists.ts';
import { type ServiceCall, withService } from './service-command.ts';
import { addRequestKey, addRetryOptions, requestKeyOf } from './write-options.ts';

export function endpointCommands(program: Command, dependencies: CliDependencies): void {
  const endpoints = program
    .command('endpoints')
    .description('endpoint profiles: a destination and how it is delivered to, for many schedules');

  const create = endpoints
    .command('create')
    .description('make a profile')
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
    .description('profiles, newest first')
    .option('--include-archived', 'archived ones too');
  withService(addListOptions(list), dependencies, (call) =>
    listAnswer(
      call,
      dependencies.notify,
      (query) =>
        call.sched.endpoints.list({ ...query, include_archived: isSet(call.options, 'includeArchived') }),
      ENDPOINT_COLUMNS,
    ),
  );

  const show = endpoints.command('show').argument('<id>').description('one profile');
  withService(show, dependencies, async (call) =>
    endpointAnswer(call, await call.sched.endpoints.get(call.argument)),
  );

  const update = endpoints
    .command('update')
    .argument('<id>')
    .description('make a new version of a profile; what is not given stays');
  withService(addBodyOptions(update), dependencies, async (call) =>
    endpointAnswer(
      call,
      await call.sched.endpoints.update(
        call.argument,
        await endpointBody(call.options),
        requestKeyOf(call.options),
      ),
    ),
  );

  const archive = endpoints
    .command('archive')
    .argument('<id>')
    .description('take a profile out of use; it stays readable');
  withService(archive, dependencies, async (call) =>
    endpointAnswer(call, await call.sched.endpoints.archive(call.argument)),
  );
}

function addBodyOptions(command: Command): Command {
  command.option('--endpoint <url>', 'the URL that is called');
  addChoice(command, '--method <method>', 'the method, POST unless given', METHODS);
  addRepeatable(command, '--header <line>', 'a header "Name: value"; those given replace all there are');
  addRetryOptions(command.option('--timeout <duration>', 'the time for one attempt, 30s unless given'))
    .option('--retry-budget-rate <number>', 'retries per second to this endpoint')
    .option('--retry-budget-burst <number>', 'and how many at once')
    .option('--rate-limit <number>', 'most deliveries per second; kept, not enforced yet')
    .option('--breaker-threshold <number>', 'failures in a row after which it is left alone')
    .option('--breaker-base-open <duration>', 'for how long at first')
    .option('--breaker-max-open <duration>', 'and at most')
    .option('--breaker-probe-timeout <duration>', 'how long others wait for a probe; all four or none');
  addRepeatable(command, '--metadata <key=value>', 'a label; those given replace all there are');
  command.option('--data <json>', 'the whole body as JSON: TEXT, @file or -; flags set fields of it');
  return addRequestKey(command);
}

async function endpointAnswer({ screen, now }: ServiceCall, endpoint: Endpoint): Promise<Answer> {
  return { json: endpoint as unknown as Json, text: endpointText(endpoint, screen, now()) };
}
