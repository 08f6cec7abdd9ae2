/** A choice of the endpoint profiles that are not archived. */
import type { EndpointList } from '../../../sdk/src/api-types.ts';
import { useLive } from '../live.ts';
import { apiPath, hrefInProject } from '../session.ts';
import { SelectField, type SelectFieldProps } from './field.tsx';
import { titleOf } from './subject.tsx';

export function ProfileSelect(
  field: Pick<SelectFieldProps<string>, 'label' | 'value' | 'error' | 'hint' | 'onValue'>,
) {
  const live = useLive<EndpointList>(apiPath('endpoints?limit=100'));
  const { value } = field;
  const profiles = (live.data?.data ?? []).filter((profile) => !profile.archived);
  if (live.data !== null && profiles.length === 0 && value === '') {
    return (
      <p class="text-dim">
        There is no endpoint profile yet.{' '}
        <a class="link" href={hrefInProject('endpoints/new')}>
          Create one
        </a>{' '}
        first.
      </p>
    );
  }
  // The list has the newest profiles. A link or an older choice may name any.
  const isListed = value === '' || profiles.some(({ id }) => id === value);
  return (
    <SelectField
      {...field}
      options={[
        { value: '', label: live.data === null ? 'Loading…' : 'Choose an endpoint profile' },
        ...(isListed ? [] : [{ value, label: value }]),
        ...profiles.map((profile) => ({ value: profile.id, label: titleOf(profile) })),
      ]}
    />
  );
}
