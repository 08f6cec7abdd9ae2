/** The form of an endpoint profile, and the bodies of POST and PATCH. */
import type { Endpoint, EndpointWrite } from '../../../sdk/src/api-types.ts';
import type { FieldErrors } from './field-errors.ts';
import { findNotifyError, NO_NOTIFY, type NotifyForm, notifyBody, notifyFormOf } from './notify-form.ts';
import { findPairError, type Pair, pairsOf, recordOf } from './pairs.ts';
import {
  type BreakerForm,
  breakerBody,
  breakerFormOf,
  budgetBody,
  NO_BREAKER,
  NO_RETRY,
  type RetryForm,
  rateLimitBody,
  retryBody,
  retryFormOf,
} from './policy-form.ts';
import { isSame, type Method } from './schedule-form.ts';

export interface EndpointForm {
  readonly name: string;
  readonly url: string;
  readonly method: Method;
  /** Header values cannot be read, so either all headers stay or all are replaced. */
  readonly replacesHeaders: boolean;
  readonly headers: readonly Pair[];
  readonly timeout: string;
  readonly retry: RetryForm;
  readonly budgetRate: string;
  readonly budgetBurst: string;
  readonly perSecond: string;
  readonly breaker: BreakerForm;
  readonly excerptBytes: string;
  /** Whether requests are signed for Standard Webhooks too. */
  readonly isStandard: boolean;
  readonly notify: NotifyForm;
  readonly labels: readonly Pair[];
}

export const NEW_ENDPOINT: EndpointForm = {
  name: '',
  url: '',
  method: 'POST',
  replacesHeaders: true,
  headers: [],
  timeout: '',
  retry: NO_RETRY,
  budgetRate: '',
  budgetBurst: '',
  perSecond: '',
  breaker: NO_BREAKER,
  excerptBytes: '',
  isStandard: false,
  notify: NO_NOTIFY,
  labels: [],
};

export function endpointFormOf(endpoint: Endpoint): EndpointForm {
  return {
    name: endpoint.name ?? '',
    url: endpoint.url,
    method: endpoint.method,
    replacesHeaders: endpoint.header_keys.length === 0,
    headers: [],
    timeout: endpoint.timeout ?? '',
    retry: retryFormOf(endpoint.retry_policy),
    budgetRate: String(endpoint.retry_budget?.rate ?? ''),
    budgetBurst: String(endpoint.retry_budget?.burst ?? ''),
    perSecond: String(endpoint.rate_limit?.per_second ?? ''),
    breaker: breakerFormOf(endpoint.breaker_policy),
    excerptBytes: String(endpoint.response_excerpt ?? ''),
    isStandard: endpoint.standard_webhooks,
    notify: notifyFormOf(endpoint.notify),
    labels: pairsOf(endpoint.metadata),
  };
}

/** The fields of the API that the form shows. An error of any other field belongs to the whole form. */
export function endpointFields({ replacesHeaders }: EndpointForm): readonly string[] {
  const { metadata, ...others } = fullBody(NEW_ENDPOINT);
  return Object.keys({ ...others, metadata, ...(replacesHeaders && { headers: {} }) });
}

export function validateEndpoint(form: EndpointForm): FieldErrors {
  const errors: Record<string, string> = {};
  if (form.url.trim() === '') errors.url = 'Enter a URL.';
  const headers = form.replacesHeaders ? findPairError(form.headers, 'header') : null;
  const labels = findPairError(form.labels, 'label');
  // A text that is no number would clear the field.
  if (!/^\s*\d{0,6}\s*$/.test(form.excerptBytes))
    errors.response_excerpt = 'Enter a whole number of bytes, from 0 to 16384.';
  const notify = findNotifyError(form.notify);
  if (notify !== null) errors.notify = notify;
  if (headers !== null) errors.headers = headers;
  if (labels !== null) errors.metadata = labels;
  return errors;
}

/** Every field. An empty field is null. */
function fullBody(form: EndpointForm) {
  return {
    name: form.name.trim() === '' ? null : form.name.trim(),
    url: form.url.trim(),
    method: form.method,
    timeout: form.timeout.trim() === '' ? null : form.timeout.trim(),
    retry_policy: retryBody(form.retry),
    retry_budget: budgetBody(form.budgetRate, form.budgetBurst),
    rate_limit: rateLimitBody(form.perSecond),
    breaker_policy: breakerBody(form.breaker),
    standard_webhooks: form.isStandard || null,
    response_excerpt: form.excerptBytes.trim() === '' ? null : Number(form.excerptBytes),
    notify: notifyBody(form.notify),
    metadata: recordOf(form.labels),
  };
}

export function endpointBody(form: EndpointForm): EndpointWrite {
  const headers = recordOf(form.headers);
  const given = Object.entries(fullBody(form)).filter(([, value]) => value !== null && !isSame(value, {}));
  return { ...Object.fromEntries(given), ...(Object.keys(headers).length > 0 && { headers }) };
}

/** Only the changed fields, so that changes of other users in the meantime stay. */
export function endpointChanges(form: EndpointForm, before: Endpoint): EndpointWrite {
  const was: Readonly<Record<string, unknown>> = fullBody(endpointFormOf(before));
  const changed = Object.entries(fullBody(form)).filter(([name, value]) => !isSame(value, was[name]));
  const headers = recordOf(form.headers);
  const hasNewHeaders =
    form.replacesHeaders && (before.header_keys.length > 0 || Object.keys(headers).length > 0);
  return { ...Object.fromEntries(changed), ...(hasNewHeaders && { headers }) };
}
