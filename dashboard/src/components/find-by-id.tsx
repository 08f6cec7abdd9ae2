/** A field for an id from a log or a header. It leads to the page of the object. */
import { useState } from 'preact/hooks';
import type { FoundDelivery } from '../../../src/control/http/data-contract.ts';
import { ApiError, get } from '../api.ts';
import { findId } from '../model/delivery-tabs.ts';
import { navigate } from '../router.ts';
import { apiPath, hrefInProject } from '../session.ts';
import { useRequest } from '../use-request.ts';
import { TextField } from './field.tsx';

export function FindById() {
  const [text, setText] = useState('');
  const [isUnknown, setUnknown] = useState(false);
  const lookup = useRequest(async (id: string) => {
    try {
      const { delivery_id } = await get<FoundDelivery>(apiPath(`attempts/${id}/delivery`));
      navigate(hrefInProject(`deliveries/${delivery_id}`));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      setUnknown(true);
    }
  });
  const go = (given: string): boolean => {
    const found = findId(given);
    if (found === null) return false;
    if ('page' in found) navigate(hrefInProject(found.page));
    else void lookup.run(found.attempt);
    return true;
  };
  const error = isUnknown
    ? 'No attempt that has ended has this id. Search for the id of its delivery.'
    : (lookup.error?.message ?? null);
  return (
    <form
      class="w-full sm:w-80"
      onSubmit={(event) => {
        event.preventDefault();
        if (!go(text)) setUnknown(false);
      }}
    >
      <TextField
        type="search"
        label="Go to an id"
        isMono
        placeholder="dlv_…, att_…, sch_… or ep_…"
        value={text}
        error={error ?? (text.length > 40 ? 'This is not an id.' : null)}
        autocomplete="off"
        onValue={(next) => {
          setText(next);
          setUnknown(false);
          lookup.clear();
          go(next);
        }}
      />
    </form>
  );
}
