/** Alert conditions, incidents and messages: forms, bodies and texts. */
import type {
  AlertConditionInfo,
  AlertIncidentInfo,
  AlertMessageInfo,
} from '../../../src/control/http/alert-contract.ts';
import { plural } from '../format.ts';
import type { FieldErrors } from './field-errors.ts';
import { isSame } from './schedule-form.ts';

export type ConditionKind = AlertConditionInfo['kind'];

type Terms = Pick<AlertConditionInfo, 'kind' | 'threshold' | 'window_minutes'>;

export const KIND_LABELS: Readonly<Record<ConditionKind, string>> = {
  breaker_opened: 'A circuit breaker opens',
  deliveries_failed: 'Deliveries fail',
  occurrences_skipped: 'Occurrences are skipped',
};

/** When a condition is true, as one plain sentence. */
export function describeCondition({ kind, threshold, window_minutes: minutes }: Terms): string {
  if (kind === 'breaker_opened') return 'The circuit breaker of an endpoint opens.';
  if (kind === 'occurrences_skipped')
    return 'Recurring schedules skip occurrences, because their deliveries are taken up too late.';
  const limit = threshold ?? 0;
  const failed =
    limit > 1
      ? `More than ${plural(limit, '', 'deliveries')} are dead-lettered or expire`
      : `${limit === 0 ? 'A' : 'More than one'} delivery is dead-lettered or expires`;
  return `${failed} within ${plural(minutes ?? 0, 'minute')}.`;
}

export interface ConditionForm {
  readonly kind: ConditionKind;
  readonly threshold: string;
  readonly minutes: string;
  readonly channelIds: readonly string[];
}

/** With a single channel there is nothing to choose. */
export function newCondition(channelIds: readonly string[]): ConditionForm {
  return {
    kind: 'breaker_opened',
    threshold: '10',
    minutes: '5',
    channelIds: channelIds.length === 1 ? channelIds : [],
  };
}

export function conditionFormOf(condition: AlertConditionInfo): ConditionForm {
  const { kind, threshold, window_minutes: minutes, channel_ids: channelIds } = condition;
  return { kind, threshold: String(threshold ?? ''), minutes: String(minutes ?? ''), channelIds };
}

/** The sentence that the form shows. With wrong terms it is only the kind. */
export function sentenceOf(form: ConditionForm): string {
  const { threshold, window_minutes } = validateCondition(form);
  const isWrong = threshold !== undefined || window_minutes !== undefined;
  const { kind, threshold: limit, minutes } = form;
  return isWrong
    ? `${KIND_LABELS[kind]}.`
    : describeCondition({ kind, threshold: Number(limit), window_minutes: Number(minutes) });
}

/** The fields of the API that the form shows. */
export function conditionFields({ kind }: ConditionForm): readonly string[] {
  return ['channel_ids', ...(kind === 'deliveries_failed' ? ['threshold', 'window_minutes'] : [])];
}

/** The service knows the bounds. A text that is no number would be sent as null. */
export function validateCondition(form: ConditionForm): FieldErrors {
  const errors: Record<string, string> = {};
  if (form.kind === 'deliveries_failed') {
    if (!isWhole(form.threshold)) errors.threshold = 'Enter a whole number, such as 10.';
    if (!isWhole(form.minutes)) errors.window_minutes = 'Enter a whole number of minutes, such as 5.';
  }
  if (form.channelIds.length === 0) errors.channel_ids = 'Choose at least one channel.';
  return errors;
}

function isWhole(text: string): boolean {
  return /^\s*\d{1,9}\s*$/.test(text);
}

/** The terms and the channels. The kind of a condition never changes. */
function fullBody({ kind, threshold, minutes, channelIds }: ConditionForm) {
  const terms = { threshold: Number(threshold), window_minutes: Number(minutes) };
  return { channel_ids: channelIds, ...(kind === 'deliveries_failed' && terms) };
}

export function conditionBody(form: ConditionForm): object {
  return { kind: form.kind, ...fullBody(form) };
}

/** Only the changed fields, so that changes of other users in the meantime stay. */
export function conditionChanges(form: ConditionForm, before: AlertConditionInfo): object {
  const was: Readonly<Record<string, unknown>> = fullBody(conditionFormOf(before));
  return Object.fromEntries(
    Object.entries(fullBody(form)).filter(([name, value]) => !isSame(value, was[name])),
  );
}

/** The first page has all open incidents in front. */
export function inListOrder(
  open: readonly AlertIncidentInfo[],
  page: readonly AlertIncidentInfo[],
): readonly AlertIncidentInfo[] {
  const ids = new Set(open.map(({ id }) => id));
  return [...open, ...page.filter(({ id, closed_at }) => closed_at !== null && !ids.has(id))];
}

export type IncidentState = 'open' | 'quiet' | 'closed';

export function stateOf({ quiet_since, closed_at }: AlertIncidentInfo): IncidentState {
  if (closed_at !== null) return 'closed';
  return quiet_since === null ? 'open' : 'quiet';
}

/** Says what became of a message. */
export function describeMessage(message: AlertMessageInfo): string {
  const { status, attempt_count: attempts, last_status_code: code, error } = message;
  if (status === 'delivered') return `The channel answered ${code ?? '2xx'}.`;
  const why = error ?? 'for an unknown reason';
  if (status === 'failed' && attempts === 0) return `It was not sent: ${why}.`;
  if (status === 'failed') return `It was not delivered after ${plural(attempts, 'attempt')}: ${why}.`;
  return attempts === 0 ? 'It is being sent.' : `Attempt ${attempts} failed: ${why}.`;
}
