/** A state as word and shape: never by colour alone. */
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'neutral';

const TONES: Readonly<Record<Tone, string>> = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  accent: 'bg-accent-soft text-accent',
  neutral: 'bg-sunken text-dim',
};

export function Badge({
  tone,
  icon,
  children,
  title,
}: {
  readonly tone: Tone;
  readonly icon?: IconName;
  readonly children: string;
  readonly title?: string;
}) {
  return (
    <span
      class={`inline-flex items-center gap-1 rounded-full px-2 py-px text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
      title={title}
    >
      {icon === undefined ? null : <Icon name={icon} size={12} />}
      {children}
    </span>
  );
}

interface Look {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly word: string;
}

const UNKNOWN = { tone: 'neutral', icon: 'dot' } as const;

/** Deliveries. A newer service may know more of them. */
export const DELIVERY_LOOKS: Readonly<Record<string, Look>> = {
  scheduled: { tone: 'neutral', icon: 'clock', word: 'Scheduled' },
  claimed: { tone: 'accent', icon: 'bolt', word: 'Sending' },
  retry_scheduled: { tone: 'warn', icon: 'retry', word: 'Retrying' },
  succeeded: { tone: 'good', icon: 'check', word: 'Succeeded' },
  dead_letter: { tone: 'bad', icon: 'cross', word: 'Dead letter' },
  expired: { tone: 'bad', icon: 'hourglass', word: 'Expired' },
  paused: { tone: 'neutral', icon: 'pause', word: 'Paused' },
  canceled: { tone: 'neutral', icon: 'stop', word: 'Canceled' },
};

export const SCHEDULE_LOOKS: Readonly<Record<string, Look>> = {
  active: { tone: 'good', icon: 'clock', word: 'Active' },
  paused: { tone: 'warn', icon: 'pause', word: 'Paused' },
  canceled: { tone: 'neutral', icon: 'stop', word: 'Canceled' },
  completed: { tone: 'neutral', icon: 'check', word: 'Completed' },
};

export const BREAKER_LOOKS: Readonly<Record<string, Look>> = {
  closed: { tone: 'good', icon: 'check', word: 'Closed' },
  half_open: { tone: 'warn', icon: 'retry', word: 'Half open' },
  open: { tone: 'bad', icon: 'warning', word: 'Open' },
};

export function StateBadge({
  state,
  looks,
}: {
  readonly state: string;
  readonly looks: Readonly<Record<string, Look>>;
}) {
  const look = looks[state] ?? { ...UNKNOWN, word: state };
  return (
    <Badge tone={look.tone} icon={look.icon}>
      {look.word}
    </Badge>
  );
}
