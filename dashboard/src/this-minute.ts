/** The whole minute that it is, for addresses of the control plane that move along with the clock. */
import { computed } from '@preact/signals';
import { now } from './time.ts';

const MINUTE_MS = 60_000;

export const thisMinute = computed(() => Math.floor(now.value / MINUTE_MS) * MINUTE_MS);
