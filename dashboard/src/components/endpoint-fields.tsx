/** The fields of an endpoint profile, to create and to edit it. */
import type { EndpointForm } from '../model/endpoint-form.ts';
import { HEADERS_MAX, LABELS_MAX } from '../model/pairs.ts';
import type { FieldErrors } from '../model/schedule-form.ts';
import { DestinationFields } from './destination-fields.tsx';
import { Checkbox, TextField } from './field.tsx';
import { PairsField } from './pairs-field.tsx';
import { RetryFields } from './retry-fields.tsx';

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
          hint="Requests per second. Stored, but not enforced yet."
          onValue={(perSecond) => change({ ...form, perSecond })}
        />
      </div>
      <RetryFields
        form={form.retry}
        error={errors.retry_policy}
        onForm={(retry) => change({ ...form, retry })}
      />
      <fieldset>
        <legend class="mb-1 font-medium">Retry budget</legend>
        <p class="mb-2 text-sm text-dim">
          The most retries and replays per second (rate) and at once (burst). Fill in both or none.
        </p>
        <div class="grid grid-cols-2 gap-3 sm:max-w-sm">
          <TextField
            label="Rate"
            value={form.budgetRate}
            placeholder="10"
            inputMode="decimal"
            error={errors.retry_budget}
            onValue={(budgetRate) => change({ ...form, budgetRate })}
          />
          <TextField
            label="Burst"
            value={form.budgetBurst}
            placeholder="100"
            inputMode="decimal"
            onValue={(budgetBurst) => change({ ...form, budgetBurst })}
          />
        </div>
      </fieldset>
      <BreakerFields form={form} change={change} errors={errors} />
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

function BreakerFields({ form, change, errors }: Omit<EndpointFieldsProps, 'headersBefore'>) {
  const set = (part: Partial<EndpointForm['breaker']>) =>
    change({ ...form, breaker: { ...form.breaker, ...part } });
  return (
    <fieldset>
      <legend class="mb-1 font-medium">Circuit breaker</legend>
      <p class="mb-2 text-sm text-dim">
        The breaker opens after this many failures in a row (threshold). While it is open, nothing is sent.
        Then one request is sent as a probe. If it fails, the open time doubles, up to the maximum. Fill in
        all four or none.
      </p>
      <div class="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <TextField
          label="Threshold"
          value={form.breaker.threshold}
          inputMode="numeric"
          placeholder="5"
          error={errors.breaker_policy}
          onValue={(threshold) => set({ threshold })}
        />
        <TextField
          label="Base open"
          value={form.breaker.baseOpen}
          placeholder="30s"
          onValue={(baseOpen) => set({ baseOpen })}
        />
        <TextField
          label="Max open"
          value={form.breaker.maxOpen}
          placeholder="1h"
          onValue={(maxOpen) => set({ maxOpen })}
        />
        <TextField
          label="Probe timeout"
          value={form.breaker.probeTimeout}
          placeholder="30s"
          onValue={(probeTimeout) => set({ probeTimeout })}
        />
      </div>
    </fieldset>
  );
}
