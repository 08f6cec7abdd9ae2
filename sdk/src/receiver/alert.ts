/** The message of an alert, as a webhook channel gets it. */
import type * as Api from '../api-types.ts';
import { hasFields, holds, type Kinds } from './check-fields.ts';

type Data = Api.Alert['data'];

/** A condition of an alert became true. */
export interface Incident extends NonNullable<Data['incident']> {}

interface ClosedIncident extends Incident {
  readonly closed_at: string;
}
interface DataWith<I extends Data['incident']> extends Data {
  readonly incident: I;
}
interface AlertOf<T extends Api.Alert['type'], I extends Data['incident']> extends Api.Alert {
  readonly type: T;
  readonly data: DataWith<I>;
}

/** An incident began. */
export interface OpenedAlert extends AlertOf<'alert.opened', Incident> {}
/** An incident still lasts. */
export interface ReminderAlert extends AlertOf<'alert.reminder', Incident> {}
/** An incident is over. */
export interface ClosedAlert extends AlertOf<'alert.closed', ClosedIncident> {}
/** Somebody tests the channel. */
export interface TestAlert extends AlertOf<'alert.test', null> {}

/** The message of an alert. `type` tells what happened. */
export type Alert = OpenedAlert | ReminderAlert | ClosedAlert | TestAlert;

const ALERT = { type: 'string', id: 'string', created_at: 'string' } satisfies Kinds<Api.Alert>;
const DATA = {
  title: 'string',
  text: 'string',
  url: 'string?',
  project: 'string',
  mode: 'string',
} satisfies Kinds<Data>;
const INCIDENT = {
  id: 'string',
  condition_id: 'string',
  kind: 'string',
  endpoint: 'string?',
  opened_at: 'string',
  closed_at: 'string?',
} satisfies Kinds<Incident>;
const CLOSED = { closed_at: 'string' } satisfies Kinds<ClosedIncident>;

const isIncident = (value: unknown) => hasFields(value, INCIDENT);

/** Whether an incident fits the type of its alert. */
const FITS: { readonly [T in Api.Alert['type']]: (incident: unknown) => boolean } = {
  'alert.opened': isIncident,
  'alert.reminder': isIncident,
  'alert.closed': (incident) => isIncident(incident) && hasFields(incident, CLOSED),
  'alert.test': (incident) => incident === null,
};

/**
 * Whether the JSON of a body is the message of an alert that this package knows. It never throws. It does not verify who
 * sent the body: do that first.
 */
export function isAlert(body: unknown): body is Alert {
  return holds(
    () =>
      hasFields(body, ALERT) &&
      isAlertType(body.type) &&
      hasFields(body.data, DATA) &&
      FITS[body.type](body.data.incident),
  );
}

function isAlertType(type: unknown): type is Api.Alert['type'] {
  return typeof type === 'string' && Object.hasOwn(FITS, type);
}
