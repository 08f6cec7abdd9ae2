import { completionChecker } from '#test/simulation/checkers/completion.ts';
import { fairnessChecker } from '#test/simulation/checkers/fairness.ts';
import { rateLimitsChecker } from '#test/simulation/checkers/rate-limits.ts';
import { apiChecker } from '../../checkers/api.ts';
import { attemptsChecker } from '../../checkers/attempts.ts';
import { breakerChecker } from '../../checkers/breaker.ts';
import { lifecycleChecker } from '../../checkers/lifecycle.ts';
import { namesChecker } from '../../checkers/names.ts';
import { notificationsChecker } from '../../checkers/notifications.ts';
import { payloadsChecker } from '../../checkers/payloads.ts';
import { reservationsChecker } from '../../checkers/reservations.ts';
import { schedulesChecker } from '../../checkers/schedules.ts';
import { sendsChecker } from '../../checkers/sends.ts';
import { settlingChecker } from '../../checkers/settling.ts';
import { stopsChecker } from '../../checkers/stops.ts';
import { sweepsChecker } from '../../checkers/sweeps.ts';
import { triggersChecker } from '../../checkers/triggers.ts';
import type { ClusterCheckerFactory } from '../simulation-view.ts';
import { ownershipChecker } from './ownership.ts';
import { punctualityInCluster } from './punctuality.ts';
import { sharesChecker } from './shares.ts';

/** The checkers of a single process except its punctuality, and the checkers of a cluster. */
export const CLUSTER_CHECKERS: readonly ClusterCheckerFactory[] = [
  ownershipChecker,
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
  punctualityInCluster,
  breakerChecker,
  rateLimitsChecker,
  reservationsChecker,
  apiChecker,
  stopsChecker,
  sharesChecker,
  completionChecker,
];
