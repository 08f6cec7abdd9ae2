/** The answer of a command that writes by name: what happened, or what would happen. */
import type { Plan, PutResult } from '#sdk/index.ts';
import type { Answer, Json } from '#src/cli/terminal/output.ts';
import { printable } from '#src/cli/terminal/printable.ts';

const RESULTS: Readonly<Record<PutResult, (name: string) => string>> = {
  created: (name) => `Created ${name}.`,
  changed: (name) => `Changed ${name}.`,
  unchanged: (name) => `${name} is unchanged.`,
};
const PLANS: Readonly<Record<Plan['action'], (name: string) => string>> = {
  create: (name) => `Would create ${name}.`,
  change: (name) => `Would change ${name}.`,
  none: (name) => `${name} would not change.`,
};

/** JSON has the result beside the fields of the API, because a deployment may depend on it. */
export function putAnswer(name: string, result: PutResult, { json, text }: Answer): Answer {
  return {
    json: { ...(json as Readonly<Record<string, Json>>), put_result: result },
    text: `${RESULTS[result](printable(name))}\n\n${text}`,
  };
}

export function planAnswer(name: string, plan: Plan): Answer {
  const fields = plan.fields.length === 0 ? '' : ` Fields: ${printable(plan.fields.join(', '))}.`;
  return { json: plan as unknown as Json, text: `${PLANS[plan.action](printable(name))}${fields}` };
}
