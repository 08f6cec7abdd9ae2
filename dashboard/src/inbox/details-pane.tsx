/** The details of the selected arrival: its facts, its headers and its body. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ArrivalDetails, ArrivalSummary } from '../../../src/inbox/contract.ts';
import { DELIVERY_BADGES, StateBadge } from '../components/badge.tsx';
import { CopyButton, TruncatedText } from '../components/copy.tsx';
import { Card, DetailList } from '../components/page.tsx';
import { formatBytes } from '../format.ts';
import { SignatureMark } from './arrival-list.tsx';
import { connection, details, fetchDetails, show, state } from './inbox-client.ts';
import { prettyJson } from './pretty-json.ts';
import { attemptsOf } from './state.ts';
import { answerSentence, clock, deliveryStatus, isFollowed, lateness } from './texts.ts';

/** Whether JSON is shown as it was sent. The choice stays for the next arrival. */
const isRaw = signal(false);

const TARGET_CHARACTERS_MAX = 400;

export function DetailsPane({ arrival }: { readonly arrival: ArrivalSummary }) {
  const pane = useRef<HTMLElement>(null);
  const { number, method } = arrival;
  const found = details.value.get(number);
  const isLive = connection.value === 'live';
  // Details that could not be fetched are fetched when the service is back.
  useEffect(() => void fetchDetails(), [number, isLive]);
  useEffect(() => {
    if (pane.current !== null) pane.current.scrollTop = 0;
  }, [number]);
  return (
    <section
      ref={pane}
      id="details"
      aria-label="Selected arrival"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
      tabIndex={0}
      class="min-h-0 space-y-4 overflow-y-auto border-t border-line bg-sunken px-3 pt-4 pb-10 -outline-offset-2 md:border-t-0 md:bg-transparent md:px-6"
    >
      <a class="link md:hidden" href="#main">
        Back to the list
      </a>
      <h2 class="text-base font-semibold break-all">
        {method}{' '}
        <TruncatedText
          text={found?.target ?? arrival.target}
          charactersMax={TARGET_CHARACTERS_MAX}
          isMono
          canCopy
        />
      </h2>
      <Card>
        <DetailList items={factsOf(arrival)} />
      </Card>
      {found === undefined ? null : (
        <>
          <Headers {...found} />
          <Body key={number} {...found} />
        </>
      )}
    </section>
  );
}

type Fact = readonly [string, ComponentChildren];

function factsOf(arrival: ArrivalSummary): readonly (Fact | null)[] {
  const { at, delivery, bytes } = arrival;
  const late = lateness(arrival);
  return [
    ['Arrived', <span class="tabular-nums">{late === null ? clock(at) : `${clock(at)}, ${late}`}</span>],
    ['Signature', <Signature arrival={arrival} />],
    ['Answer', answerSentence(arrival)],
    delivery === null ? null : ['Delivery', <TruncatedText text={delivery.id} isMono canCopy />],
    delivery === null ? null : ['Attempt', <Attempts arrival={arrival} />],
    statusOf(arrival),
    ['Size', formatBytes(bytes)],
  ];
}

function Signature({ arrival }: { readonly arrival: ArrivalSummary }) {
  const { signature } = arrival;
  return (
    <>
      <SignatureMark arrival={arrival} />
      {signature.verified ? null : <p class="break-words">{signature.why}</p>}
    </>
  );
}

function statusOf(arrival: ArrivalSummary): Fact | null {
  const text = deliveryStatus(arrival);
  const now = arrival.delivery?.now ?? null;
  if (text === null || now === null) return null;
  if (isFollowed(arrival)) return ['Then', text];
  const label = DELIVERY_BADGES[now.status]?.label ?? now.status;
  return [
    'Status',
    <span class="break-words">
      <StateBadge state={now.status} badges={DELIVERY_BADGES} />
      {text.slice(label.length).replace(/^: /, ' ')}
    </span>,
  ];
}

function Attempts({ arrival }: { readonly arrival: ArrivalSummary }) {
  const now = arrival.delivery?.now ?? null;
  return (
    <span class="flex flex-wrap items-center gap-1">
      {attemptsOf(state.value, arrival).map(({ number, delivery }) => (
        <button
          key={number}
          type="button"
          class="attempt"
          aria-label={`Attempt ${delivery?.attempt}`}
          aria-current={number === arrival.number ? 'true' : undefined}
          onClick={() => show(number)}
        >
          {delivery?.attempt}
        </button>
      ))}
      {now === null ? null : <span class="ml-1">of {now.max_attempts} at most</span>}
    </span>
  );
}

function Headers({ headers }: ArrivalDetails) {
  return (
    <Card title="Headers">
      <table class="w-full border-collapse text-left font-mono text-sm">
        <tbody>
          {headers.map(([name, value], index) => (
            <tr key={index} class="border-t border-line first:border-t-0">
              <th
                scope="row"
                class="min-w-28 py-1 pr-4 align-top font-normal break-words text-dim sm:whitespace-nowrap"
              >
                {name}
              </th>
              <td class="py-1 align-top break-all">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function Body({ body }: ArrivalDetails) {
  const text = body.kind === 'text' ? body.text : '';
  const pretty = useMemo(() => (text === '' ? null : prettyJson(text)), [text]);
  if (body.kind === 'binary') {
    return (
      <Card title="Body">
        <p class="mb-2">The body is not text. Up to {body.shown} bytes are shown in hex:</p>
        <Code text={body.hex} />
      </Card>
    );
  }
  if (text === '') {
    return (
      <Card title="Body">
        <p class="text-dim">The request has no body.</p>
      </Card>
    );
  }
  return (
    <Card
      title="Body"
      actions={
        <span class="flex items-center gap-2">
          {pretty === null ? null : <RawToggle />}
          <CopyButton text={text} label="Copy the body" />
        </span>
      }
    >
      <Code text={pretty === null || isRaw.value ? text : pretty} />
    </Card>
  );
}

function RawToggle() {
  return (
    <button
      type="button"
      class="chip"
      aria-pressed={isRaw.value}
      onClick={() => {
        isRaw.value = !isRaw.value;
      }}
    >
      Raw
    </button>
  );
}

function Code({ text }: { readonly text: string }) {
  return (
    <pre class="rounded-md border border-line bg-sunken p-3 font-mono text-sm break-all whitespace-pre-wrap">
      {text}
    </pre>
  );
}
