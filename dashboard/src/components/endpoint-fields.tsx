/** The fields of an endpoint profile, to create and to edit it. */
import type { EndpointForm } from '../model/endpoint-form.ts';
import type { FieldErrors } from '../model/field-errors.ts';
import { HEADERS_MAX, LABELS_MAX } from '../model/pairs.ts';
import { DestinationFields } from './destination-fields.tsx';
import { Checkbox, NameField, TextField } from './field.tsx';
import { FieldGroup, type GroupedField } from './field-group.tsx';
import { NotifyFields } from './notify.tsx';
import { PairsField } from './pairs-field.tsx';
import { RetryFields } from './retry-fields.tsx';

const BUDGET_FIELDS: readonly GroupedField<EndpointForm>[] = [
  { key: 'budgetRate', label: 'Rate', name: 'rate', placeholder: '10', isNumber: true },
  { key: 'budgetBurst', label: 'Burst', name: 'burst', placeholder: '100', isNumber: true },
];

const BREAKER_HINT =
  'The breaker opens after this many failures in a row (threshold). While it is open, nothing is sent. Then one request is sent as a probe. If it fails, the open time doubles, up to the maximum. Fill in all four or none.';

const BREAKER_FIELDS: readonly GroupedField<EndpointForm['breaker']>[] = [
  { key: 'threshold', label: 'Threshold', name: 'threshold', placeholder: '5', isNumber: true },
  { key: 'baseOpen', label: 'Base open', name: 'base_open', placeholder: '30s' },
  { key: 'maxOpen', label: 'Max open', name: 'max_open', placeholder: '1h' },
  { key: 'probeTimeout', label: 'Probe timeout', name: 'probe_timeout', placeholder: '30s' },
];

interface EndpointFieldsProps {
  readonly form: EndpointForm;
  readonly change: (form: EndpointForm) => void;
  readonly errors: FieldErrors;
  /** Names of the stored headers. Null for a new endpoint profile. */
  readonly headersBefore: readonly string[] | null;
}

export function EndpointFields({ form, change, errors, headersBefore }: EndpointFieldsProps) {
  return (
    <div class="space-y-5">
      <NameField
        value={form.name}
        error={errors.name}
        of="endpoint profiles that are not archived"
        example="orders"
        onValue={(name) => change({ ...form, name })}
      />
      <DestinationFields
        method={form.method}
        url={form.url}
        methodError={errors.method}
        urlError={errors.url}
        isStored={headersBefore !== null}
        change={(changed) => change({ ...form, ...changed })}
      />
      <HeadersPart form={form} change={change} errors={errors} headersBefore={headersBefore} />
      <div class="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Timeout"
          value={form.timeout}
          error={errors.timeout}
          placeholder="30s"
          hint="For one attempt. Above 0, at most 1h."
          onValue={(timeout) => change({ ...form, timeout })}
        />
        <TextField
          label="Rate limit"
          value={form.perSecond}
          error={errors.rate_limit}
          inputMode="decimal"
          hint="Requests per second. It is stored and not enforced: set the rate limit of the schedules instead."
          onValue={(perSecond) => change({ ...form, perSecond })}
        />
      </div>
      <RetryFields
        form={form.retry}
        error={errors.retry_policy}
        onForm={(retry) => change({ ...form, retry })}
      />
      <FieldGroup
        legend="Retry budget"
        hint="The most retries and replays per second (rate) and at once (burst). Fill in both or none."
        fields={BUDGET_FIELDS}
        form={form}
        onForm={change}
        error={errors.retry_budget}
        columns="sm:max-w-sm"
      />
      <FieldGroup
        legend="Circuit breaker"
        hint={BREAKER_HINT}
        fields={BREAKER_FIELDS}
        form={form.breaker}
        onForm={(breaker) => change({ ...form, breaker })}
        error={errors.breaker_policy}
      />
      <TextField
        label="Keep of answers"
        value={form.excerptBytes}
        error={errors.response_excerpt}
        inputMode="numeric"
        hint="Bytes of an answer that is not 2xx, encrypted with its attempt, at most 16384. 0 keeps none. Empty: the default of the operator."
        onValue={(excerptBytes) => change({ ...form, excerptBytes })}
      />
      <Checkbox
        label="Sign for Standard Webhooks too"
        isChecked={form.isStandard}
        error={errors.standard_webhooks}
        hint="Requests also carry webhook-id, webhook-timestamp and webhook-signature. Every signing secret in force must be whsec_ and base64."
        onValue={(isStandard) => change({ ...form, isStandard })}
      />
      <NotifyFields
        form={form.notify}
        error={errors.notify}
        onForm={(notify) => change({ ...form, notify })}
      />
      <PairsField
        legend="Metadata"
        noun="label"
        pairs={form.labels}
        max={LABELS_MAX}
        error={errors.metadata}
        onPairs={(labels) => change({ ...form, labels })}
      />
    </div>
  );
}

function HeadersPart({ form, change, errors, headersBefore }: EndpointFieldsProps) {
  const hasOld = headersBefore !== null && headersBefore.length > 0;
  return (
    <div class="space-y-3">
      {hasOld ? (
        <Checkbox
          label="Replace all headers"
          isChecked={form.replacesHeaders}
          hint={`Stored: ${headersBefore.join(', ')}. Values cannot be read, so either all headers stay or all are replaced.`}
          onValue={(replacesHeaders) => change({ ...form, replacesHeaders })}
        />
      ) : null}
      {form.replacesHeaders ? (
        <PairsField
          legend="Headers"
          noun="header"
          hint="Encrypted at rest, sent with every attempt."
          pairs={form.headers}
          max={HEADERS_MAX}
          error={errors.headers}
          isSecret
          onPairs={(headers) => change({ ...form, headers })}
        />
      ) : null}
    </div>
  );
}
