/** The method and the URL of a destination. */
import { METHODS, type Method } from '../model/schedule-form.ts';
import { hasRole } from '../session.ts';
import { SelectField, TextField } from './field.tsx';

const ADMIN_ONLY =
  'Only an admin can change the origin or the path, because headers or a body may be stored.';

export function DestinationFields({
  method,
  url,
  methodError,
  urlError,
  isStored,
  change,
}: {
  readonly method: Method;
  readonly url: string;
  readonly methodError: string | null | undefined;
  readonly urlError: string | null | undefined;
  /** Whether it exists already. Its stored headers and body would be sent to the new destination. */
  readonly isStored: boolean;
  readonly change: (changed: { readonly method: Method } | { readonly url: string }) => void;
}) {
  return (
    <div class="grid grid-cols-[6.5rem_1fr] gap-3">
      <SelectField
        label="Method"
        value={method}
        error={methodError}
        options={METHODS.map((each) => ({ value: each, label: each }))}
        onValue={(next) => change({ method: next })}
      />
      <TextField
        type="url"
        label="URL"
        value={url}
        error={urlError}
        placeholder="https://example.com/hooks"
        hint={isStored && !hasRole('admin') ? ADMIN_ONLY : undefined}
        autocomplete="off"
        onValue={(next) => change({ url: next })}
      />
    </div>
  );
}
