/** A badge shows a state as a word and a shape, never by colour alone. */
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
    <span class={`badge ${TONES[tone]}`} title={title}>
      {icon === undefined ? null : <Icon name={icon} size={12} />}
      {children}
    </span>
  );
}

export interface BadgeStyle {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly label: string;
}

const UNKNOWN = { tone: 'neutral', icon: 'dot' } as const;

/** Badges by the status of a delivery. A newer service may know more statuses. */
export const DELIVERY_BADGES: Readonly<Record<string, BadgeStyle>> = {
  scheduled: { tone: 'neutral', icon: 'clock', label: 'Scheduled' },
  claimed: { tone: 'accent', icon: 'bolt', label: 'Claimed' },
  retry_scheduled: { tone: 'warn', icon: 'retry', label: 'Retry scheduled' },
  succeeded: { tone: 'good', icon: 'check', label: 'Succeeded' },
  dead_letter: { tone: 'bad', icon: 'cross', label: 'Dead letter' },
  expired: { tone: 'bad', icon: 'hourglass', label: 'Expired' },
  paused: { tone: 'neutral', icon: 'pause', label: 'Paused' },
  canceled: { tone: 'neutral', icon: 'stop', label: 'Canceled' },
};

/** Badges by the outcome of an attempt. The delivery shows whether another attempt follows. */
export const OUTCOME_BADGES: Readonly<Record<string, BadgeStyle>> = {
  success: { tone: 'good', icon: 'check', label: 'Succeeded' },
  retryable: { tone: 'warn', icon: 'retry', label: 'Failed' },
  terminal: { tone: 'bad', icon: 'cross', label: 'Failed, not retryable' },
};

export const SCHEDULE_BADGES: Readonly<Record<string, BadgeStyle>> = {
  active: { tone: 'good', icon: 'clock', label: 'Active' },
  paused: { tone: 'warn', icon: 'pause', label: 'Paused' },
  canceled: { tone: 'neutral', icon: 'stop', label: 'Canceled' },
  // It says only that no run follows. The last delivery may have failed.
  completed: { tone: 'neutral', icon: 'flag', label: 'Completed' },
};

export const BREAKER_BADGES: Readonly<Record<string, BadgeStyle>> = {
  closed: { tone: 'good', icon: 'check', label: 'Closed' },
  half_open: { tone: 'warn', icon: 'retry', label: 'Half open' },
  open: { tone: 'bad', icon: 'warning', label: 'Open' },
};

export const INCIDENT_BADGES: Readonly<Record<string, BadgeStyle>> = {
  open: { tone: 'bad', icon: 'warning', label: 'Open' },
  quiet: { tone: 'warn', icon: 'clock', label: 'Quiet' },
  closed: { tone: 'neutral', icon: 'check', label: 'Closed' },
};

/** Badges by the status of an alert message. */
export const MESSAGE_BADGES: Readonly<Record<string, BadgeStyle>> = {
  waiting: { tone: 'accent', icon: 'clock', label: 'Waiting' },
  delivered: { tone: 'good', icon: 'check', label: 'Delivered' },
  failed: { tone: 'bad', icon: 'cross', label: 'Failed' },
};

export function StateBadge({
  state,
  badges,
}: {
  readonly state: string;
  readonly badges: Readonly<Record<string, BadgeStyle>>;
}) {
  const badge = badges[state] ?? { ...UNKNOWN, label: state };
  return <Badge {...badge}>{badge.label}</Badge>;
}
