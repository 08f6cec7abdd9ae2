/** The list of arrivals, the newest first. The arrow keys move the selection. */
import type { ArrivalSummary } from '../../../src/inbox/contract.ts';
import { Badge } from '../components/badge.tsx';
import { Icon } from '../components/icon.tsx';
import { show, state } from './inbox-client.ts';
import { listed } from './state.ts';
import { answerBadge, clock, deliveryStatus, lateness, signatureText } from './texts.ts';

/** On a narrow screen the details are below the list. */
const NARROW = '(width < 52rem)';
const DETAILS = 'details';

export function ArrivalList() {
  const arrivals = listed(state.value);
  const { selected } = state.value;
  return (
    <section aria-labelledby="list-title" class="min-h-0 overflow-y-auto border-line md:border-r">
      <h2 id="list-title" class="px-4 pt-3 pb-2 font-semibold">
        Arrivals{' '}
        <span id="count" class="font-normal text-dim">
          {arrivals.length}
        </span>
      </h2>
      <ol id="arrivals" onKeyDown={moveSelection}>
        {arrivals.map((arrival) => (
          <Row key={arrival.number} arrival={arrival} isSelected={arrival.number === selected} />
        ))}
      </ol>
    </section>
  );
}

function moveSelection(event: KeyboardEvent): void {
  const row = (event.target as Element).closest('li');
  const next =
    event.key === 'ArrowDown'
      ? row?.nextElementSibling
      : event.key === 'ArrowUp'
        ? row?.previousElementSibling
        : null;
  const button = next?.querySelector('button');
  if (button === null || button === undefined) return;
  event.preventDefault();
  button.focus();
  show(Number(button.dataset.number));
}

function Row({ arrival, isSelected }: { readonly arrival: ArrivalSummary; readonly isSelected: boolean }) {
  const { number, at, method, target } = arrival;
  const { label, ...badge } = answerBadge(arrival);
  return (
    <li class="new-arrival border-t border-line">
      <button
        type="button"
        class="arrival"
        data-number={number}
        aria-current={isSelected ? 'true' : undefined}
        onClick={() => {
          show(number);
          if (matchMedia(NARROW).matches) document.getElementById(DETAILS)?.scrollIntoView();
        }}
      >
        <span>
          <Badge {...badge}>{label}</Badge>
        </span>
        <span class="min-w-0 font-mono text-sm break-all sm:truncate">
          <b>{method}</b> {target}
        </span>
        <time
          class="col-start-2 font-mono text-xs text-dim sm:col-start-3"
          dateTime={new Date(at).toISOString()}
        >
          {clock(at)}
        </time>
        <span class="col-start-2 -col-end-1 flex min-w-0 flex-wrap gap-x-3 text-sm text-dim">
          <SignatureMark arrival={arrival} />
          {notesOf(arrival).map((note) => (
            <span key={note} class="min-w-0 break-words">
              {note}
            </span>
          ))}
        </span>
      </button>
    </li>
  );
}

function notesOf(arrival: ArrivalSummary): readonly string[] {
  const late = lateness(arrival);
  const { delivery } = arrival;
  return [
    late === null ? null : `arrived ${late}`,
    delivery === null ? null : `attempt ${delivery.attempt}`,
    deliveryStatus(arrival),
  ].filter((note) => note !== null);
}

export function SignatureMark({ arrival }: { readonly arrival: ArrivalSummary }) {
  const { verified } = arrival.signature;
  return (
    <span class={`inline-flex items-center gap-1 ${verified ? 'text-good' : 'text-bad'}`}>
      <Icon name={verified ? 'check' : 'cross'} size={12} />
      {signatureText(arrival)}
    </span>
  );
}
