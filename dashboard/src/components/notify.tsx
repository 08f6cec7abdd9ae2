/** A form has fields that say who is told how deliveries end. A page shows it as a text. */
import type { Endpoint, Notify } from '../../../sdk/src/api-types.ts';
import { useLive } from '../live.ts';
import { type NotifyForm, TOLD_OUTCOMES } from '../model/notify-form.ts';
import { apiPath } from '../session.ts';
import { DELIVERY_BADGES } from './badge.tsx';
import { IdLink } from './copy.tsx';
import { Checkbox, SelectField } from './field.tsx';
import { ProfileSelect } from './profile-select.tsx';
import { titleOf } from './subject.tsx';

const TELL = { value: 'tell', label: 'Tell an endpoint profile' } as const;
const NOBODY = { value: 'nobody', label: 'Tell nobody' } as const;
const OPTIONS = [{ ...NOBODY, value: 'default' }, TELL] as const;
const INHERITING = [{ value: 'default', label: 'As the endpoint profile says' }, TELL, NOBODY] as const;

export function NotifyFields({
  form,
  error,
  inherits = false,
  onForm,
}: {
  readonly form: NotifyForm;
  readonly error: string | undefined;
  /** Whether there is an endpoint profile whose choice holds by default. */
  readonly inherits?: boolean;
  readonly onForm: (form: NotifyForm) => void;
}) {
  const { choice, on } = form;
  const isTold = choice === 'tell';
  const isAtOutcomes = isTold && on.length === 0 && form.endpointId !== '';
  return (
    <div class="space-y-3">
      <SelectField<NotifyForm['choice']>
        label="Notifications"
        value={inherits || isTold ? choice : 'default'}
        error={isTold ? null : error}
        hint="A notification is a request that tells how a delivery ended."
        options={inherits ? INHERITING : OPTIONS}
        onValue={(next) => onForm({ ...form, choice: next })}
      />
      {isTold ? (
        <>
          <ProfileSelect
            label="Endpoint profile to tell"
            value={form.endpointId}
            error={isAtOutcomes ? null : error}
            onValue={(endpointId) => onForm({ ...form, endpointId })}
          />
          <fieldset class="flex flex-wrap gap-x-5 gap-y-1">
            <legend class="mb-1 font-medium">Outcomes that are told</legend>
            {TOLD_OUTCOMES.map((outcome, index) => (
              <Checkbox
                key={outcome}
                label={labelOf(outcome)}
                isChecked={on.includes(outcome)}
                error={isAtOutcomes && index === 0 ? error : undefined}
                onValue={(isOn) =>
                  onForm({ ...form, on: isOn ? [...on, outcome] : on.filter((one) => one !== outcome) })
                }
              />
            ))}
          </fieldset>
        </>
      ) : null}
    </div>
  );
}

function labelOf(outcome: string): string {
  return DELIVERY_BADGES[outcome]?.label ?? outcome;
}

/** The endpoint profile and the outcomes. */
export function NotifyText({ notify: { endpoint_id: id, on } }: { readonly notify: Notify }) {
  if (id === null || on.length === 0) return <>nobody</>;
  return (
    <>
      <ProfileLink id={id} />
      <span class="text-dim">: {on.map((outcome) => labelOf(outcome).toLowerCase()).join(', ')}</span>
    </>
  );
}

/** The id, until the name is known. */
function ProfileLink({ id }: { readonly id: string }) {
  const { data } = useLive<Endpoint>(apiPath(`endpoints/${id}`));
  return <IdLink page="endpoints" id={id} name={data && titleOf(data)} />;
}
