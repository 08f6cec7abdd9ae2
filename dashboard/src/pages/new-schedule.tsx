/** The form for a new schedule, with a preview of its next runs. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Schedule } from '../../../sdk/src/api-types.ts';
import { post } from '../api.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { Choice } from '../components/choice.tsx';
import { DestinationFields } from '../components/destination-fields.tsx';
import { ErrorNote } from '../components/error.tsx';
import { NameField, TextArea, TextField } from '../components/field.tsx';
import { Icon } from '../components/icon.tsx';
import { NotifyFields } from '../components/notify.tsx';
import { Card, Page } from '../components/page.tsx';
import { PairsField } from '../components/pairs-field.tsx';
import { ProfileSelect } from '../components/profile-select.tsx';
import { RetryFields, TtlField } from '../components/retry-fields.tsx';
import { previewErrors, TimingControl, TimingPreview } from '../components/timing-control.tsx';
import { toast } from '../components/toast.tsx';
import { formatBytes } from '../format.ts';
import type { FieldErrors } from '../model/field-errors.ts';
import { HEADERS_MAX, LABELS_MAX } from '../model/pairs.ts';
import {
  ADVANCED_FIELDS,
  bodyHint,
  newSchedule,
  type ScheduleForm,
  scheduleBody,
  scheduleFields,
  validateSchedule,
} from '../model/schedule-form.ts';
import { newTiming, previewBody } from '../model/timing-form.ts';
import { navigate, query } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';
import { displayZone } from '../time.ts';
import { useForm } from '../use-form.ts';
import { usePreview } from '../use-preview.ts';

interface PartProps {
  readonly form: ScheduleForm;
  readonly change: (form: ScheduleForm) => void;
  readonly errors: FieldErrors;
}

/** A link on the page of an endpoint profile fills in the endpoint profile. */
function firstForm(): ScheduleForm {
  const form = newSchedule(newTiming(displayZone.peek(), Date.now()));
  const endpointId = query.peek().get('endpoint');
  return endpointId === null ? form : { ...form, destination: 'profile', endpointId };
}

async function create(form: ScheduleForm): Promise<void> {
  const created = await post<Schedule>(apiPath('schedules'), scheduleBody(form));
  toast('good', 'The schedule is created.');
  navigate(hrefInProject(`schedules/${created.id}`));
}

export function NewSchedulePage() {
  const { form, change, errors, error, isBusy, submit, element } = useForm(
    firstForm(),
    create,
    scheduleFields,
    validateSchedule,
  );
  const request = previewBody(form.timing, form.jitter);
  const preview = usePreview(request);
  const all = { ...previewErrors(preview), ...errors };
  if (!hasRole('operator')) {
    return (
      <Page title="New schedule">
        <p class="text-dim">This needs the role operator. Ask an admin for it.</p>
      </Page>
    );
  }
  const parts: PartProps = { form, change, errors: all };
  return (
    <Page title="New schedule">
      <form
        ref={element}
        onSubmit={submit}
        noValidate
        class="grid items-start gap-4 lg:grid-cols-[1fr_20rem]"
      >
        <div class="min-w-0 space-y-4">
          <DestinationPart {...parts} />
          <Card title="Timing">
            <TimingControl
              form={form.timing}
              errors={all}
              onForm={(next) => change({ ...form, timing: next })}
            />
          </Card>
          <PayloadPart {...parts} />
          <AdvancedPart {...parts} />
        </div>
        <div class="space-y-4 lg:sticky lg:top-26">
          <Card title="Next runs">
            <TimingPreview state={preview} hasRequest={request !== null} fields={scheduleFields(form)} />
          </Card>
          {error === null ? null : <ErrorNote error={error} />}
          <div class="flex justify-end gap-2">
            <ButtonLink href={hrefInProject('schedules')}>Cancel</ButtonLink>
            <Button type="submit" kind="primary" isBusy={isBusy}>
              Create schedule
            </Button>
          </div>
        </div>
      </form>
    </Page>
  );
}

const DESTINATIONS = [
  { value: 'inline', label: 'A URL' },
  { value: 'profile', label: 'An endpoint profile' },
] as const;

function DestinationPart({ form, change, errors }: PartProps) {
  return (
    <Card title="Name and destination">
      <div class="space-y-4">
        <NameField
          value={form.name}
          error={errors.name}
          of="schedules that have not ended"
          example="nightly-report"
          onValue={(name) => change({ ...form, name })}
        />
        <Choice
          label="Kind of destination"
          value={form.destination}
          options={DESTINATIONS}
          onValue={(destination) => change({ ...form, destination })}
        />
        {form.destination === 'inline' ? (
          <DestinationFields
            method={form.method}
            url={form.url}
            methodError={errors.method}
            urlError={errors.endpoint}
            isStored={false}
            change={(changed) => change({ ...form, ...changed })}
          />
        ) : (
          <ProfileSelect
            label="Endpoint profile"
            value={form.endpointId}
            error={errors.endpoint_id}
            hint="The profile sets the method, the headers and the timeout. A delivery uses the version that is current when the delivery is created."
            onValue={(endpointId) => change({ ...form, endpointId })}
          />
        )}
      </div>
    </Card>
  );
}

function PayloadPart({ form, change, errors }: PartProps) {
  const hint = bodyHint(form.body);
  return (
    <Card title="Payload">
      <div class="space-y-4">
        <PairsField
          legend="Headers"
          noun="header"
          hint="Values are encrypted at rest. Only an admin can reveal them, and the audit log records it."
          pairs={form.headers}
          max={HEADERS_MAX}
          error={errors.headers}
          isSecret
          onPairs={(headers) => change({ ...form, headers })}
        />
        <div>
          <TextArea
            label="Body"
            value={form.body}
            rows={6}
            error={errors.body}
            placeholder={'{"hello": "world"}'}
            onValue={(body) => change({ ...form, body })}
          />
          <p
            class={`mt-1 flex items-center gap-1.5 text-sm ${hint.kind === 'broken' ? 'text-warn' : 'text-dim'}`}
          >
            {hint.kind === 'broken' ? (
              <>
                <Icon name="warning" size={14} /> Not valid JSON: {hint.message}. It is sent as it is.
              </>
            ) : hint.kind === 'json' ? (
              <>
                <Icon name="check" size={14} /> Valid JSON, {formatBytes(new Blob([form.body]).size)}
              </>
            ) : hint.kind === 'text' ? (
              `Text, ${formatBytes(new Blob([form.body]).size)}`
            ) : (
              'No body. The limit is 256 KB.'
            )}
          </p>
        </div>
      </div>
    </Card>
  );
}

function AdvancedPart({ form, change, errors }: PartProps) {
  const hasFault = ADVANCED_FIELDS.some((name) => errors[name] !== undefined);
  const element = useRef<HTMLDetailsElement>(null);
  // It stays open while the error is corrected.
  useLayoutEffect(() => {
    if (hasFault && element.current !== null) element.current.open = true;
  }, [hasFault]);
  return (
    <details ref={element} class="card">
      <summary class="px-4 py-3 font-semibold">Metadata, TTL, retry policy and more</summary>
      <div class="space-y-5 px-4 pb-4">
        <PairsField
          legend="Metadata"
          noun="label"
          hint="Search for a label with name=value."
          pairs={form.labels}
          max={LABELS_MAX}
          error={errors.metadata}
          onPairs={(labels) => change({ ...form, labels })}
        />
        <div class="grid gap-4 sm:grid-cols-2">
          <TtlField value={form.ttl} error={errors.ttl} onValue={(ttl) => change({ ...form, ttl })} />
          <TextField
            label="Jitter"
            value={form.jitter}
            error={errors.jitter}
            placeholder="30s"
            hint="Each run fires up to this much earlier or later."
            onValue={(jitter) => change({ ...form, jitter })}
          />
          <TextField
            label="Rate limit"
            value={form.perSecond}
            error={errors.rate_limit}
            inputMode="decimal"
            hint="Requests per second to this destination. Empty or 0: no limit."
            onValue={(perSecond) => change({ ...form, perSecond })}
          />
          <TextField
            label="Idempotency-Key"
            value={form.idempotencyKey}
            error={errors.idempotency_key}
            isMono
            maxLength={255}
            hint="Sent with every attempt, so that receivers can deduplicate. Empty: Sched makes one."
            onValue={(idempotencyKey) => change({ ...form, idempotencyKey })}
          />
        </div>
        <RetryFields
          form={form.retry}
          error={errors.retry_policy}
          onForm={(retry) => change({ ...form, retry })}
        />
        <NotifyFields
          form={form.notify}
          error={errors.notify}
          inherits={form.destination === 'profile'}
          onForm={(notify) => change({ ...form, notify })}
        />
      </div>
    </details>
  );
}
