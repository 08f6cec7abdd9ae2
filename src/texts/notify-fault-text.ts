/** Says what is wrong with the field `notify`. */
import { Names } from '#src/domain/nearest-name.ts';
import { NOTIFIED_OUTCOMES } from '#src/domain/notify.ts';
import { wrongIdText } from './id-fault-text.ts';
import { described, listed, typeNamed } from './quote.ts';

const EXAMPLE_ON = '["dead_letter", "expired"]';
const EXAMPLE_NOTIFY = `{"endpoint_id": "ep_…", "on": ${EXAMPLE_ON}}`;

const OUTCOMES: ReadonlySet<unknown> = new Set(NOTIFIED_OUTCOMES);
const NAMES = new Names(NOTIFIED_OUTCOMES);

/** The beginning of the `type` of a notification, which is easily taken for the name of the outcome. */
const TYPE_PREFIX = /^delivery\./;

/** `member` is the field of `notify` at fault, if it is not the whole. */
export function notifyFaultText(member: string | undefined, value: unknown): string {
  if (member === 'endpoint_id') return endpointFault(value);
  if (member === 'on') return outcomesFault(value);
  return `notify must be an object such as ${EXAMPLE_NOTIFY}, not ${described(value)}.`;
}

function endpointFault(value: unknown): string {
  if (value === undefined)
    return 'notify.endpoint_id is missing. Give the id of the endpoint profile that is told, or "on": [] to tell nobody.';
  return typeof value === 'string'
    ? wrongIdText(value, 'ep', 'notify.endpoint_id')
    : `notify.endpoint_id must be the id of an endpoint profile as a string, not ${typeNamed(value)}.`;
}

function outcomesFault(value: unknown): string {
  if (value === undefined) return `notify.on is missing. Give a list of outcomes, such as ${EXAMPLE_ON}.`;
  const must = `notify.on must be a list of ${listed(NOTIFIED_OUTCOMES, 'and')}`;
  if (!Array.isArray(value)) return `${must}, such as ${EXAMPLE_ON}, not ${described(value)}.`;
  const at = value.findIndex((outcome) => !OUTCOMES.has(outcome));
  if (at >= 0) return `${must}, and its member ${at + 1} is ${described(value[at])}.${hint(value[at])}`;
  const twice = NOTIFIED_OUTCOMES.find((outcome) => value.indexOf(outcome) !== value.lastIndexOf(outcome));
  return `notify.on names ${twice} twice. Give each outcome once.`;
}

function hint(outcome: unknown): string {
  if (typeof outcome !== 'string') return '';
  const meant = NAMES.nearest(outcome.trim().toLowerCase().replace(TYPE_PREFIX, ''));
  return meant === null ? '' : ` Write "${meant}".`;
}
