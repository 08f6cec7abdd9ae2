/** The operations of /v1 for users with a session. They have the same handlers, and need a role. */
import { z } from 'zod';
import { type AnswerWithinBudget, Call, readIdempotency } from '#src/api/call.ts';
import { OPERATIONS, type Operation, type OperationId } from '#src/api/contract/operations.ts';
import type { DeliveryResource } from '#src/api/contract/resources.ts';
import { handlers } from '#src/api/handlers.ts';
import { presentDelivery } from '#src/api/present.ts';
import type { DeliveryWithFailure } from '#src/control/http/data-contract.ts';
import { asGiven } from '#src/control/http/fields.ts';
import {
  type AuditRule,
  type ProjectRequest,
  type ProjectRoute,
  projectRoute,
} from '#src/control/http/route.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import { findFailure } from '#src/domain/failures.ts';
import { readJson } from '#src/domain/json.ts';
import type { Mode } from '#src/domain/project.ts';
import { mayAct, maySeeQueries } from '#src/domain/role.ts';
import type { DataDependencies } from './dependencies.ts';
import { editGuard, findDestinationChange } from './destination-guard.ts';

/** The names of operations that change something in the audit log. */
const ACTIONS: Readonly<Partial<Record<OperationId, string>>> = {
  createSchedule: 'schedule.create',
  updateSchedule: 'schedule.update',
  rescheduleSchedule: 'schedule.reschedule',
  pauseSchedule: 'schedule.pause',
  resumeSchedule: 'schedule.resume',
  cancelSchedule: 'schedule.cancel',
  createEndpoint: 'endpoint.create',
  updateEndpoint: 'endpoint.update',
  archiveEndpoint: 'endpoint.archive',
  replayDelivery: 'delivery.replay',
  triggerSchedule: 'schedule.trigger',
  cancelDelivery: 'delivery.cancel',
};
/** Users do not write by name, and an answer of a receiver is revealed with an entry in the audit log. */
export const NOT_HERE: ReadonlySet<OperationId> = new Set([
  'putSchedule',
  'getNamedSchedule',
  'putEndpoint',
  'getNamedEndpoint',
  'getAttemptResponse',
]);
/** The page sends only fields that have an effect. An ignored one would be a fault that nobody sees. */
const IS_STRICT = true;
const FIELD_NAME = /^[a-z_]{1,32}$/;

/** `Call` reads the id, the query and the body as for /v1, and refuses them with the same errors. */
const PARAMS = z.object({ id: z.string().optional() });
const QUERY = z.record(z.string(), z.string());

interface OperationRequest extends ProjectRequest {
  readonly params: z.output<typeof PARAMS>;
  readonly query: z.output<typeof QUERY>;
  readonly body: z.output<typeof asGiven>;
}

export function operationRoutes(dependencies: DataDependencies): readonly ProjectRoute[] {
  const { commands, idempotency, upgrade, httpAllowed } = dependencies;
  const options = { httpAllowed, upgrade, showDelivery: presentWithFailure };
  const unguarded = handlers(commands, options);
  const guarded = handlers(commands, { ...options, guard: editGuard(dependencies) });
  const hiding = handlers(commands, { ...options, guard: editGuard(dependencies), hidesQueries: true });
  const here = (Object.entries(OPERATIONS) as [OperationId, Operation][]).filter(([id]) => !NOT_HERE.has(id));
  return here.map(([id, operation]) =>
    projectRoute(nameOf(operation), {
      needs: operation.method === 'GET' ? 'viewer' : 'operator',
      params: PARAMS,
      query: QUERY,
      body: asGiven,
      audited: auditedAs(dependencies, id, operation),
      handle: async (request) => {
        const { role } = request.caller.user;
        const operations = mayAct(role, 'admin') ? unguarded : maySeeQueries(role) ? guarded : hiding;
        const { status, body } = await operations[id](callOf(request, operation));
        const isNew = request.params.id === undefined && operation.method === 'POST';
        return isNew ? { status, body, subject: idIn(body) } : { status, body };
      },
    }),
  );

  function callOf(
    { tenant, params, query, body, idempotencyKey }: OperationRequest,
    operation: Operation,
  ): Call {
    const { id = '' } = params;
    const given = operation.body === null ? {} : body;
    const idempotent = operation.idempotent
      ? readIdempotency(
          idempotencyKey,
          `${operation.method} dashboard ${operation.path} ${id}`,
          JSON.stringify(given),
        )
      : null;
    const url = `?${new URLSearchParams(query).toString()}`;
    return new Call(operation, tenant, { id }, url, body, IS_STRICT, answerAtOnce, idempotency, idempotent);
  }
}

function nameOf({ method, path }: Operation): string {
  return `${method} ${path.slice(1).replace('{id}', ':id')}`;
}

/** No budget is needed, since one user has few requests at a time (`http/concurrency-limit.ts`). */
const answerAtOnce: AnswerWithinBudget = (read) => read(Number.POSITIVE_INFINITY);

export function presentWithFailure(delivery: Delivery, mode: Mode): DeliveryWithFailure<DeliveryResource> {
  const failure_code = delivery.error === null ? null : (findFailure(delivery.error)?.code ?? null);
  return { ...presentDelivery(delivery, mode), failure_code };
}

function auditedAs(
  dependencies: DataDependencies,
  id: OperationId,
  operation: Operation,
): AuditRule<OperationRequest> | null {
  if (operation.method === 'GET') return null;
  const action = ACTIONS[id];
  if (action === undefined) throw new Error(`The audit log has no name for ${id}.`);
  if (operation.body === null) return { action };
  const detail = async (request: OperationRequest) => ({
    ...fieldsOf(request),
    ...(await findDestinationChange(dependencies, id, request)),
  });
  return { action, detail };
}

/** The names of the fields that were given, never their values. */
function fieldsOf({ body }: OperationRequest): { readonly fields: string } {
  const names = Object.keys(body).filter((name) => FIELD_NAME.test(name));
  return { fields: names.join(', ') };
}

function idIn(body: string): string {
  const { id } = readJson(body) as { readonly id: string };
  return id;
}
