/** The inbox page of `sched dev`: the requests that arrived, and how the next ones are answered. */
import { useEffect } from 'preact/hooks';
import type { AnswerKind } from '../../../src/inbox/contract.ts';
import { Button } from '../components/button.tsx';
import { Choice } from '../components/choice.tsx';
import { type ConnectionState, ConnectionStatus } from '../components/connection-status.tsx';
import { CopyBlock, CopyButton } from '../components/copy.tsx';
import { Checkbox } from '../components/field.tsx';
import { Logo } from '../components/logo.tsx';
import { Toasts } from '../components/toast.tsx';
import { ArrivalList } from './arrival-list.tsx';
import { DetailsPane } from './details-pane.tsx';
import {
  clear,
  connection,
  isFull,
  isOnce,
  selected,
  sendSample,
  sent,
  setAnswer,
  setOnce,
  state,
} from './inbox-client.ts';
import { answerModeText } from './texts.ts';

const LINKS = [
  ['/', 'Home'],
  ['/dashboard', 'Dashboard'],
  ['/docs', 'API reference'],
] as const;

const ANSWERS: readonly { readonly value: AnswerKind; readonly label: string }[] = [
  { value: '200', label: '200' },
  { value: '500', label: '500' },
  { value: 'hang', label: 'Hang' },
  { value: 'redirect', label: 'Redirect' },
];

export function InboxPage() {
  const { size } = state.value.arrivals;
  useEffect(() => {
    document.title = size === 0 ? 'Sched inbox' : `(${size}) Sched inbox`;
  }, [size]);
  const arrival = selected.value;
  return (
    <>
      <a href="#main" class="skip-link">
        Skip to the arrivals
      </a>
      <div class="flex min-h-dvh flex-col md:h-dvh">
        <Header />
        <Controls />
        <main
          id="main"
          tabIndex={-1}
          class={`min-h-0 flex-1 outline-none ${size === 0 ? '' : 'md:grid md:grid-cols-[minmax(20rem,30rem)_minmax(0,1fr)]'}`}
        >
          {size === 0 ? <Empty /> : <ArrivalList />}
          {arrival === null ? null : <DetailsPane arrival={arrival} />}
        </main>
      </div>
      <Toasts />
    </>
  );
}

function connectionState(): ConnectionState {
  if (isFull.value) return { label: 'Too many inbox pages are open: close one', className: 'text-warn' };
  if (connection.value === 'live') return { label: 'Live', className: 'text-good' };
  return { label: connection.value === 'idle' ? 'Connecting' : 'Reconnecting', className: 'text-warn' };
}

function Header() {
  const { about } = state.value;
  return (
    <header class="flex flex-wrap items-center gap-x-5 gap-y-1.5 border-b border-line bg-card px-4 py-2.5">
      <h1 class="flex items-center gap-2 text-base font-semibold tracking-tight">
        <Logo />
        <span>
          Sched <span class="font-normal text-dim">inbox</span>
        </span>
      </h1>
      <p class="order-1 flex w-full min-w-0 items-center gap-1.5 md:order-none md:w-auto">
        <span class="text-dim">Receiver</span>
        <code id="hook" class="min-w-0 font-mono text-sm break-all">
          {about?.hook}
        </code>
        {about === null ? null : <CopyButton text={about.hook} label="Copy the URL of the receiver" />}
      </p>
      <nav aria-label="Pages" class="order-2 flex gap-4 md:order-none md:ml-auto">
        {LINKS.map(([href, label]) => (
          <a key={href} href={href} class="link">
            {label}
          </a>
        ))}
      </nav>
      <div class="ml-auto md:ml-0">
        <ConnectionStatus state={connectionState()} />
      </div>
    </header>
  );
}

function Controls() {
  const { mode } = state.value;
  return (
    <section
      aria-label="Settings of the inbox"
      class="flex flex-wrap items-center gap-x-5 gap-y-2.5 border-b border-line px-4 py-2.5"
    >
      <div class="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span class="text-dim" aria-hidden="true">
          Answer with
        </span>
        <Choice
          label="Answer with"
          value={mode.answer}
          options={ANSWERS}
          onValue={(answer) => void setAnswer(answer)}
        />
        <Checkbox label="next request only" isChecked={isOnce.value} onValue={setOnce} />
      </div>
      <p role="status" class="text-dim">
        {answerModeText(mode)}
      </p>
      <div class="flex flex-wrap items-center gap-2 md:ml-auto">
        <Button kind="primary" onClick={() => void sendSample()}>
          Send me one in 2 s
        </Button>
        <Button onClick={() => void clear()}>Clear</Button>
        <p role="status" class="text-dim tabular-nums md:order-first">
          {sent.value}
        </p>
      </div>
    </section>
  );
}

function Empty() {
  const { about } = state.value;
  return (
    <section aria-labelledby="empty-title" class="mx-auto max-w-4xl space-y-4 px-4 py-10 md:py-16">
      <h2 id="empty-title" class="text-xl font-semibold tracking-tight">
        No requests yet
      </h2>
      <p>
        This page shows every request to the receiver above at once: how late it was, whether its signature is
        valid, and how it was answered. Press <b>Send me one in 2 s</b>, or paste this into a terminal:
      </p>
      <div id="curl">
        {about === null ? null : <CopyBlock text={about.curl} label="Command for a first request" />}
      </div>
      <p>
        Then make it fail. Answer with <b>500</b> and watch the retry. Let it <b>hang</b> until the attempt
        times out. Or <b>redirect</b> it: Sched never follows a redirect.
      </p>
    </section>
  );
}
