/** A field for an id from a log or a header. It leads to the page of the object. */
import { useState } from 'preact/hooks';
import type { FoundDelivery } from '../../../src/control/http/data-contract.ts';
import { ApiError, get } from '../api.ts';
import { findId } from '../model/delivery-tabs.ts';
import { navigate } from '../router.ts';
import { apiPath, hrefInProject } from '../session.ts';
import { useRequest } from '../use-request.ts';
import { TextField } from './field.tsx';

const NO_ID = 'This is not an id. Ids begin with dlv_, att_, sch_, ep_, job_ or inc_.';
/** No id is longer, with some spaces around it. While a shorter text is typed, it may still become an id. */
const ID_CHARACTERS_MAX = 40;

export function FindById() {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const lookup = useRequest(async (id: string) => {
    try {
      const { delivery_id } = await get<FoundDelivery>(apiPath(`attempts/${id}/delivery`));
      navigate(hrefInProject(`deliveries/${delivery_id}`));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      setFault('No attempt with this id was found. Search for the id of its delivery.');
    }
  });
  const go = (given: string): boolean => {
    const found = findId(given);
    if (found === null) return false;
    if ('page' in found) navigate(hrefInProject(found.page));
    else void lookup.run(found.attempt);
    return true;
  };
  return (
    <form
      class="w-full sm:w-80"
      onSubmit={(event) => {
        event.preventDefault();
        if (!go(text)) setFault(text.trim() === '' ? null : NO_ID);
      }}
    >
      <TextField
        type="search"
        label="Go to an id"
        isMono
        placeholder="dlv_…, att_…, sch_… or ep_…"
        value={text}
        error={fault ?? lookup.error?.message ?? (text.length > ID_CHARACTERS_MAX ? NO_ID : null)}
        autocomplete="off"
        onValue={(next) => {
          setText(next);
          setFault(null);
          lookup.clear();
          go(next);
        }}
      />
    </form>
  );
}
