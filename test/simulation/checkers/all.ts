import { apiChecker } from './api.ts';
import { attemptsChecker } from './attempts.ts';
import { breakerChecker } from './breaker.ts';
import { completionChecker } from './completion.ts';
import { fairnessChecker } from './fairness.ts';
import { lifecycleChecker } from './lifecycle.ts';
import { namesChecker } from './names.ts';
import { notificationsChecker } from './notifications.ts';
import { payloadsChecker } from './payloads.ts';
import { punctualityChecker } from './punctuality.ts';
import { rateLimitsChecker } from './rate-limits.ts';
import { reservationsChecker } from './reservations.ts';
import { schedulesChecker } from './schedules.ts';
import { sendsChecker } from './sends.ts';
import { settlingChecker } from './settling.ts';
import type { CheckerFactory } from './simulation-view.ts';
import { stopsChecker } from './stops.ts';
import { sweepsChecker } from './sweeps.ts';
import { triggersChecker } from './triggers.ts';

export const CHECKERS: readonly CheckerFactory[] = [
  lifecycleChecker,
  attemptsChecker,
  sendsChecker,
  payloadsChecker,
  namesChecker,
  triggersChecker,
  notificationsChecker,
  settlingChecker,
  schedulesChecker,
  sweepsChecker,
  fairnessChecker,
  punctualityChecker,
  breakerChecker,
  rateLimitsChecker,
  reservationsChecker,
  apiChecker,
  stopsChecker,
  completionChecker,
];
