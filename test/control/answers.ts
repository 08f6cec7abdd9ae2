/** Checks each answer of the control plane against its schema, as `test/e2e/document.ts` does for /v1. */
import { z } from 'zod';
import { OPERATION_DOCS } from '#src/api/contract/operation-docs.ts';
import { OPERATIONS, type OperationId } from '#src/api/contract/operations.ts';
import { NOT_HERE } from '#src/control/data/operations.ts';
import { ANSWERS, PROJECT_ANSWERS } from '#src/control/http/answers.ts';
import { DeliveryFailure } from '#src/control/http/data-contract.ts';
import { Router } from '#src/control/http/router.ts';

const ERROR = z.strictObject({
  error: z.strictObject({
    type: z.string().endsWith('_error'),
    code: z.string().min(1),
    message: z.string().min(1),
    param: z.string().nullable(),
    request_id: z.string(),
  }),
});

/** The dashboard shows each delivery with the code of its failure. */
const WITH_FAILURE: Readonly<Partial<Record<OperationId, z.ZodType>>> = {
  getDelivery: DeliveryFailure,
  replayDelivery: DeliveryFailure,
  listDeliveries: z.object({ data: z.array(DeliveryFailure) }),
  listScheduleDeliveries: z.object({ data: z.array(DeliveryFailure) }),
};

function isHere(id: OperationId): boolean {
  return !NOT_HERE.has(id);
}

/** The names of all routes with a schema, as in the matrix. */
export const ANSWERED: ReadonlyMap<string, z.ZodType> = new Map([
  ...Object.entries<z.ZodType>(ANSWERS),
  ...Object.entries<z.ZodType>(PROJECT_ANSWERS).map(
    ([name, schema]) => [name.replace(' ', ' p/:project/:mode/'), schema] as const,
  ),
  ...(Object.keys(OPERATIONS) as OperationId[]).filter(isHere).map((id) => {
    const { method, path } = OPERATIONS[id];
    const answer = OPERATION_DOCS[id].answer.and(WITH_FAILURE[id] ?? z.unknown());
    return [`${method} p/:project/:mode${path.replace('{id}', ':id')}`, answer] as const;
  }),
]);

const router = new Router<z.ZodType>();
for (const [name, schema] of ANSWERED) {
  const [method, path = ''] = name.split(' ');
  router.add(method as 'GET', path, schema);
}

/** Returns what is wrong with an answer, or an empty text. `target` is the path below `/dashboard/api/` with its query. */
export function faultsOfAnswer(method: string, target: string, status: number, json: unknown): string {
  const [path = ''] = target.split('?', 1);
  const schema = status < 300 ? router.match(method, path)?.value : ERROR;
  if (schema === undefined) return 'no route has this path';
  const { error } = schema.safeParse(json);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}

export function expectDeclared(method: string, target: string, status: number, json: unknown): void {
  const faults = faultsOfAnswer(method, target, status, json);
  if (faults !== '') throw new Error(`${method} ${target}: ${status} is not as its schema says: ${faults}`);
}
